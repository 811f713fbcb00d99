"""The dashboard: pages of runs, live, with controls, behind a guard; for `ralph serve`.

Every page is made on the server. What an agent has written reaches it as text, or as Markdown without HTML; the pages'
policy lets the browser run no script and apply no style that is not a file of this package.
"""
