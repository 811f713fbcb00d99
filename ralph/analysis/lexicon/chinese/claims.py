"""Chinese words of claims, traditional and simplified: what is finished, what is left, and what comes next."""

from itertools import product

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CLAIMS"]


def _each(words: str) -> list[str]:
    return words.split()


_ACHIEVED = [
    *_each("實現 实现 實作 修復 修复 修正 解決 解决 重構 重构 開發 开发 搭建 部署 遷移 迁移 整合 集成 交付"),
    *_each("上線 上线 建置 构建 完成"),
]
_PERFECT = _each("已 已經 已经 成功 已成功 已經成功 已经成功 順利 顺利 已順利 已顺利")
_NONE = _each("沒有 没有 無 无 再無 再无 已無 已无 不再有 沒有任何 没有任何")
_OPEN = _each("剩餘 剩余 未完成 未完成的 遺留 遗留 待處理 待处理 待辦 待办 待完成")
_PIECES = _each("任務 任务 工作 事項 事项 項目 项目 項 项 步驟 步骤 需求 的任務 的任务 的項目 的项目 的工作")
_NUMBERS = _each("一 二 三 四 五 六 1 2 3 4 5 6")

_COMMANDS = _each(
    "更新 添加 新增 創建 创建 修復 修复 運行 运行 測試 测试 實現 实现 編寫 编写 檢查 检查 提交 修改 驗證 验证"
)

CLAIMS: Words = {
    "all": alone(*_each("所有 全部 全都 均 均已 皆 皆已 都已 都已經 都已经 每個 每个 各項 各项")),
    "everything": alone(*_each("一切 全部工作 整個項目 整个项目 整個專案 整个任务 整個任務")),
    "goal": alone(
        *_each("任務 任务 項目 项目 專案 功能 需求 工作 驗收標準 验收标准 驗收條件 验收条件 步驟 步骤 事項 事项"),
        *_each("待辦事項 待办事项 故事 用戶故事 用户故事 要求 目標 目标 階段 阶段 模組 模块 開發工作 开发工作"),
        *_each("檢查項 检查项 清單 清单 計劃 计划 遷移 迁移 重構 重构 問題 问题 修復 修复 條目 条目"),
    ),
    "closed": {
        "實現": ("實現", "实现", "已實現", "已实现", "已經實現", "已经实现", "實作", "已實作"),
        "滿足": ("滿足", "满足", "已滿足", "已满足", "達成", "达成", "已達成", "已达成", "達標", "达标"),
        "通過": ("通過", "通过", "已通過", "已通过"),
        "解決": ("解決", "解决", "已解決", "已解决", "已修復", "已修复"),
        "勾選": ("勾選", "勾选", "已勾選", "已勾选", "打勾"),
    },
    "nothing left": alone(
        *(f"{none}{left}{pieces}" for none, left, pieces in product(_NONE, _OPEN, _PIECES)),
        *_each("無事可做 无事可做 沒有其他工作 没有其他工作 無需下一輪 无需下一轮 沒有待辦 没有待办"),
        *_each("沒有更多任務 没有更多任务 沒有其他任務 没有其他任务 沒有更多工作 没有更多工作"),
    ),
    "needless": alone(*_each("無需修改 无需修改 無需更改 无需更改 無需任何修改 无需任何修改 無需進一步 无需进一步")),
    "achieve": alone(*(f"{perfect}{verb}" for perfect, verb in product(_PERFECT, _ACHIEVED) if verb != "完成")),
    "outright": alone(
        *(f"{perfect}{verb}" for perfect, verb in product(_PERFECT[3:], _ACHIEVED)),
        *_each("圓滿完成 圆满完成"),
    ),
    "yours": alone(*_each("你的 您的")),
    "part": alone(
        *_each("本次循環 本次循环 本循環 本循环 本輪 本轮 這輪 这轮 本次迭代 此次循環 此次循环 這次循環 这次循环"),
        *_each("大部分 一部分 部分功能 部分任務 部分任务 初步 暫時 暂时 基本框架 第一步 前半部分 第一版 核心部分"),
        *_each("其中一個 其中一个 多數 多数 大多數 大多数"),
        *(f"第{number}{unit}" for number, unit in product(_NUMBERS, _each("階段 阶段 步 部分 期 輪 轮"))),
        *(f"前{number}{unit}" for number, unit in product(("兩", "两", *_NUMBERS[2:]), _each("個 个 項 项 步"))),
    ),
    "preparation": alone(*_each("分析 規劃 规划 調研 调研 調查 调查 閱讀 阅读 探索 研究")),
    "stage": alone(*_each("階段 阶段 步驟 步骤 迭代 里程碑 循環 循环 批次")),
    "proviso": alone(*_each("一旦 如果 若 等到 只要 除非 待您 待你 批准後 批准后 授權後 授权后 審核後 审核后")),
    "reported": alone(*_each("你說 你说 您說 您说 用戶說 用户说 據說 据说 聲稱 声称")),
    "act": alone(
        *_each("讓我 让我 我來 我来 我將 我将 我會 我会 我要 我需要 我正在 接下來我 接下来我 現在我 现在我 下面我"),
        *_each("我們來 我们来 接著 接着 現在來 现在来 現在開始 现在开始 接下來將 接下来将 下面將 下面将 我先 我再"),
        *(f"{now}{verb}" for now, verb in product(("現在", "现在", "接下來", "接下来", "下面"), _COMMANDS)),
    ),
    "closer": alone(
        *_each("總結 总结 彙總 汇总 匯總 概述 摘要 通知 等待 說明 说明 小結 小结 列出 提交最終 提交最终 結束 结束"),
    ),
    "recap": alone(
        *_each("總結 总结 摘要 完成的工作 完成工作 主要變更 主要变更 變更內容 变更内容 修改文件 修改的文件"),
        *_each("修改檔案 修改的檔案 新增文件 新建文件 文件修改 變更摘要 变更摘要 實現內容 实现内容 主要改動"),
        *_each("主要改动 改動如下 改动如下 完成內容 完成内容 已實現功能 已实现功能 实现的功能 實現的功能"),
        *_each("實作內容 变更如下 變更如下 具体改动 具體改動 变更： 變更： 改動： 改动："),
    ),
    "verified": alone(
        *_each("構建成功 构建成功 編譯成功 编译成功 建置成功 驗證通過 验证通过 構建通過 构建通过"),
        *_each("全部通過 全部通过 均通過 均通过"),
    ),
    "passes": alone(*_each("通過 通过 已通過 已通过")),
    "committed": alone(*_each("已提交 提交完成")),
    "following": alone(
        *_each("下一個任務 下一个任务 下一階段 下一阶段 下一輪 下一轮 下一個故事 下一个故事 剩餘任務 剩余任务"),
        *_each("接下來是 接下来是 下個任務 下个任务 下次循環 下次循环 下一次循環 下一次循环 需要下一步"),
        *_each("下一個循環 下一个循环 後續任務 后续任务 繼續進行 继续进行 接下來要 接下来要"),
    ),
    "ready": alone(*_each("準備好 准备好 可以開始 可以开始")),
    "later": alone(*_each("下一步 後續步驟 后续步骤 後續工作 后续工作 接下來 接下来")),
    "left": alone(
        *_each("待完成 未完成 待辦 待办 待處理 待处理 剩餘 剩余 剩餘工作 剩余工作 尚未完成 還需要 还需要 還需 还需"),
        *_each("尚需 待實現 待实现 未實現 未实现 遺留 遗留 遺留問題 遗留问题 被阻塞 需要人工"),
    ),
    "begin": alone(*_each("開始 开始 進入 进入 繼續 继续")),
    "underway": alone(*_each("進行中 进行中 正在進行 正在进行 待開始 待开始 開發中 开发中 未開始 未开始")),
    "optional": alone(
        *_each("可選 可选 選做 选做 未來 未来 後續可 后续可 低優先 低优先 建議 建议 非必須 非必须 以後 以后"),
    ),
    "check": alone(*_each("測試 测试 構建 构建 編譯 编译 建置 檢查 检查")),
    "failing": alone(*_each("失敗 失败 未通過 未通过 報錯 报错 不通過 不通过 沒有通過 没有通过")),
    "beyond": alone(*_each("沙箱 沙盒 環境 环境 網路 网络 無關 无关 原有 既有 之前就 權限 权限")),
}
