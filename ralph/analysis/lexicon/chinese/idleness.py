"""Chinese words by which an agent says that it found nothing to do."""

from ralph.analysis.lexicon.base import Words

__all__ = ["IDLENESS"]

IDLENESS: Words = {
    "idle": {
        "nothing to do": (
            *("无需再做", "無需再做", "无需任何修改", "無需任何修改", "无需更改", "無需更改", "无需修改", "無需修改"),
            *("没有需要做的", "沒有需要做的", "没有剩余", "沒有剩餘", "无事可做", "無事可做"),
            *("没有更多任务", "沒有更多任務"),
            *("没有任何改动", "沒有任何改動", "没有其他任务", "沒有其他任務", "无需进一步", "無需進一步"),
        ),
        "in an earlier run": ("此前已", "之前已", "先前已", "早已", "上一轮已", "上一輪已", "上次已", "在之前的循环"),
        "asks to be stopped": ("请停止循环", "請停止循環", "可以停止循环", "可以停止循環", "停止调用", "停止呼叫"),
    },
}
