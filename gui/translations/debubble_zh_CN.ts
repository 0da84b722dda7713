<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>answer</name>
    <message>
        <source>, which waits for nothing</source>
        <translation>，它不等待任何操作</translation>
    </message>
    <message>
        <source>, which begins {} after </source>
        <translation>，它晚 {} 开始，此前为</translation>
    </message>
    <message>
        <source>, which begins when </source>
        <translation>，它的开始时刻即</translation>
    </message>
    <message>
        <source> ends</source>
        <translation>结束时</translation>
    </message>
    <message>
        <source>before its first compute; the bubble ends with </source>
        <translation>（首次计算之前）；气泡结束于</translation>
    </message>
    <message>
        <source>after its last compute; the last one of all is </source>
        <translation>（最后一次计算之后）；全局最后一个是</translation>
    </message>
    <message>
        <source>for another stage: </source>
        <translation>，等待另一个阶段：</translation>
    </message>
    <message>
        <source>for a message on its way: </source>
        <translation>，等待途中的消息：</translation>
    </message>
    <message>
        <source>for its group: </source>
        <translation>，等待它所在的通信组：</translation>
    </message>
    <message>
        <source>at the optimizer&apos;s barrier; the bubble ends with </source>
        <translation>，处于优化器屏障；气泡结束于</translation>
    </message>
    <message>
        <source>for the host, which is late with </source>
        <translation>，等待主机，主机延误了</translation>
    </message>
    <message>
        <source>for a greater load than the mean: </source>
        <translation>，等待高于平均的负载：</translation>
    </message>
    <message>
        <source>Rank {} is idle for {}: {}</source>
        <translation>rank {} 空闲 {}{}</translation>
    </message>
    <message>
        <source>Rank {} waits {} {}</source>
        <translation>rank {} 等待 {}{}</translation>
    </message>
    <message>
        <source> ({}) takes {}</source>
        <translation>（{}）耗时 {}</translation>
    </message>
    <message>
        <source>, of it exposed {}</source>
        <translation>，其中暴露 {}</translation>
    </message>
    <message>
        <source>, of it waiting {}</source>
        <translation>，其中等待 {}</translation>
    </message>
    <message>
        <source>; it begins {} after </source>
        <translation>；它晚 {} 开始，此前为</translation>
    </message>
    <message>
        <source>; it follows </source>
        <translation>；它紧接着</translation>
    </message>
    <message>
        <source>; it begins when </source>
        <translation>；它的开始时刻即</translation>
    </message>
</context>
<context>
    <name>bill</name>
    <message>
        <source>model FLOPs at the peak rate</source>
        <translation>以峰值速率计算的模型 FLOPs</translation>
    </message>
    <message>
        <source>compute (the peak rate is not known)</source>
        <translation>计算（峰值速率未知）</translation>
    </message>
    <message>
        <source>kernels below the peak rate</source>
        <translation>核函数低于峰值速率</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>host: launches, and time between steps</source>
        <translation>主机：启动以及步间时间</translation>
    </message>
    <message>
        <source>pipeline messages on their way</source>
        <translation>途中的流水线消息</translation>
    </message>
    <message>
        <source>exposed: tensor parallel</source>
        <translation>暴露：张量并行</translation>
    </message>
    <message>
        <source>exposed: context parallel</source>
        <translation>暴露：上下文并行</translation>
    </message>
    <message>
        <source>exposed: expert parallel</source>
        <translation>暴露：专家并行</translation>
    </message>
    <message>
        <source>exposed: data parallel</source>
        <translation>暴露：数据并行</translation>
    </message>
    <message>
        <source>exposed: copies to the host</source>
        <translation>暴露：到主机的拷贝</translation>
    </message>
    <message>
        <source>optimizer step</source>
        <translation>优化器步</translation>
    </message>
    <message>
        <source>uneven stages</source>
        <translation>阶段不均</translation>
    </message>
    <message>
        <source>warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>收尾</translation>
    </message>
    <message>
        <source>waits for a stage</source>
        <translation>等待阶段</translation>
    </message>
    <message>
        <source>waits for a group</source>
        <translation>等待通信组</translation>
    </message>
    <message>
        <source>uneven loads</source>
        <translation>负载不均</translation>
    </message>
    <message>
        <source>optimizer barrier</source>
        <translation>优化器屏障</translation>
    </message>
    <message>
        <source>step</source>
        <translation>训练步</translation>
    </message>
    <message>
        <source>the optimizer&apos;s steps take no time</source>
        <translation>优化器步不耗时</translation>
    </message>
    <message>
        <source>all kernels run the model&apos;s FLOPs at the peak rate</source>
        <translation>所有核函数以峰值速率计算模型 FLOPs</translation>
    </message>
    <message>
        <source>nothing is computed again</source>
        <translation>没有重计算</translation>
    </message>
    <message>
        <source>hosts launch and prepare in no time</source>
        <translation>主机启动与准备不耗时</translation>
    </message>
    <message>
        <source>tensor parallel communication takes no time</source>
        <translation>张量并行通信不耗时</translation>
    </message>
    <message>
        <source>context parallel communication takes no time</source>
        <translation>上下文并行通信不耗时</translation>
    </message>
    <message>
        <source>expert parallel communication takes no time</source>
        <translation>专家并行通信不耗时</translation>
    </message>
    <message>
        <source>data parallel communication takes no time</source>
        <translation>数据并行通信不耗时</translation>
    </message>
    <message>
        <source>pipeline communication takes no time</source>
        <translation>流水线通信不耗时</translation>
    </message>
    <message>
        <source>copies to the host communication takes no time</source>
        <translation>到主机的拷贝不耗时</translation>
    </message>
    <message>
        <source>every stage takes the mean of all</source>
        <translation>每个阶段取所有阶段的均值</translation>
    </message>
    <message>
        <source>each rank begins its next step at once</source>
        <translation>每个 rank 立即开始下一步</translation>
    </message>
    <message>
        <source>no rank ever waits for another</source>
        <translation>rank 之间从不等待</translation>
    </message>
    <message>
        <source>all loads are even</source>
        <translation>负载均衡</translation>
    </message>
    <message>
        <source>{}, no shorter</source>
        <translation>{}，并未缩短</translation>
    </message>
    <message>
        <source>{}, {} shorter</source>
        <translation>{}，缩短 {}</translation>
    </message>
</context>
<context>
    <name>causes</name>
    <message>
        <source>warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>收尾</translation>
    </message>
    <message>
        <source>waits for a stage</source>
        <translation>等待阶段</translation>
    </message>
    <message>
        <source>waits for a link</source>
        <translation>等待链路</translation>
    </message>
    <message>
        <source>waits for a group</source>
        <translation>等待通信组</translation>
    </message>
    <message>
        <source>optimizer barrier</source>
        <translation>优化器屏障</translation>
    </message>
    <message>
        <source>host late</source>
        <translation>主机延误</translation>
    </message>
    <message>
        <source>uneven load</source>
        <translation>负载不均</translation>
    </message>
</context>
<context>
    <name>classes</name>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>工作区</translation>
    </message>
</context>
<context>
    <name>debubble::gui::BillPage</name>
    <message>
        <source>Where it goes</source>
        <translation>去向</translation>
    </message>
    <message>
        <source>what the step is paid for, and how it depends on the machine</source>
        <translation>步时花在何处，以及它如何取决于机器</translation>
    </message>
    <message>
        <source>Show &amp;where the step goes</source>
        <translation>显示训练步去向(&amp;W)</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>在窗口中央</translation>
    </message>
    <message>
        <source>pointer</source>
        <translation>指针</translation>
    </message>
    <message>
        <source>on a part lights its actions and bubbles in the lanes below</source>
        <translation>指向某部分时，下方通道中对应的操作与气泡会高亮</translation>
    </message>
    <message>
        <source>click, Enter</source>
        <translation>点击、Enter</translation>
    </message>
    <message>
        <source>on a part&apos;s knob turns it</source>
        <translation>作用于某部分的调节项</translation>
    </message>
    <message>
        <source>drag, Left, Right</source>
        <translation>拖动、左、右</translation>
    </message>
    <message>
        <source>a knob of the bars beside: what if the machine were such</source>
        <translation>旁边条形上的旋钮：假如机器如此</translation>
    </message>
</context>
<context>
    <name>debubble::gui::BillPanel</name>
    <message>
        <source>Where the step goes</source>
        <translation>训练步的去向</translation>
    </message>
    <message>
        <source>part of the step</source>
        <translation>训练步的组成</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>耗时</translation>
    </message>
    <message>
        <source>step if it were free</source>
        <translation>若其为零时的步时间</translation>
    </message>
    <message>
        <source>knob, for the same tokens</source>
        <translation>调节项（token 数不变）</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>没有打开的方案</translation>
    </message>
    <message>
        <source>The plan is played again without each of its costs ...</source>
        <translation>正在逐项去除代价重新推演方案……</translation>
    </message>
    <message>
        <source>Played again: %1</source>
        <translation>重新推演：%1</translation>
    </message>
    <message>
        <source>A click sets %1 to %2; undo takes it back</source>
        <translation>点击将 %1 设为 %2；可撤销</translation>
    </message>
    <message>
        <source>waterfall</source>
        <translation>瀑布图</translation>
    </message>
</context>
<context>
    <name>debubble::gui::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Type a command</source>
        <translation>输入命令</translation>
    </message>
    <message>
        <source>Command to find</source>
        <translation>要查找的命令</translation>
    </message>
</context>
<context>
    <name>debubble::gui::CompareDock</name>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>two timelines on one axis: their differences as tables and in words</source>
        <translation>同一轴上的两条时间线：以表格和文字给出差异</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ComparePanel</name>
    <message>
        <source>Instant that the traces are aligned at</source>
        <translation>轨迹对齐的时刻</translation>
    </message>
    <message>
        <source>Start of the step</source>
        <translation>训练步开始</translation>
    </message>
    <message>
        <source>Optimizer step</source>
        <translation>优化器步</translation>
    </message>
    <message>
        <source>Selected action</source>
        <translation>选中的操作</translation>
    </message>
    <message>
        <source>Only differences of at least</source>
        <translation>仅显示不小于以下的差异</translation>
    </message>
    <message>
        <source>Smallest difference that is shown</source>
        <translation>显示的最小差异</translation>
    </message>
    <message>
        <source>Colour by error</source>
        <translation>按误差着色</translation>
    </message>
    <message>
        <source>Blue: A is shorter than B; red: it is longer; full at 30 %</source>
        <translation>蓝：A 短于 B；红：A 更长；30 % 时为饱和色</translation>
    </message>
    <message>
        <source>Differences in words</source>
        <translation>文字描述的差异</translation>
    </message>
    <message>
        <source>Open two traces, or run the plan: what was simulated lies above what was executed</source>
        <translation>打开两个轨迹，或执行方案：模拟在上，执行在下</translation>
    </message>
    <message>
        <source>Align by</source>
        <translation>对齐方式</translation>
    </message>
    <message>
        <source>Tables, or the same in words</source>
        <translation>表格，或文字描述</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>In words</source>
        <translation>文字</translation>
    </message>
    <message>
        <source>Colour by change</source>
        <translation>按变化着色</translation>
    </message>
</context>
<context>
    <name>debubble::gui::DetailsDock</name>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>the selection in words, what it costs, and a search for actions</source>
        <translation>所选内容的文字说明、其代价，以及动作搜索</translation>
    </message>
</context>
<context>
    <name>debubble::gui::DetailsPanel</name>
    <message>
        <source>Search for actions</source>
        <translation>搜索操作</translation>
    </message>
    <message>
        <source>Search: 2F0, bubble link, rank 3 &gt; 5 ms</source>
        <translation>搜索：2F0、bubble link、rank 3 &gt; 5 ms</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message numerus="yes">
        <source>%n hit(s)</source>
        <translation>
            <numerusform>%n 个结果</numerusform>
        </translation>
    </message>
    <message>
        <source>Click an action or a bubble, press B for the next bubble, or drag to measure</source>
        <translation>点击操作或气泡，按 B 跳到下一个气泡，或拖动以测量</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ErrorTable</name>
    <message>
        <source>Differences by kind, and by stage or rank</source>
        <translation>按类型及阶段或 rank 的差异</translation>
    </message>
    <message>
        <source>actions</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>bias</source>
        <translation>偏差</translation>
    </message>
    <message>
        <source>change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Sum of the absolute differences, of B</source>
        <translation>绝对差之和，占 B</translation>
    </message>
    <message>
        <source>A less B, of B: above 0, A is longer</source>
        <translation>A 减 B，占 B：大于 0 则 A 更长</translation>
    </message>
    <message>
        <source>Difference of the sums, of B: above 0, A is longer</source>
        <translation>总和之差，占 B：大于 0 则 A 更长</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>按类型</translation>
    </message>
    <message>
        <source>by stage</source>
        <translation>按阶段</translation>
    </message>
    <message>
        <source>passes by rank</source>
        <translation>各 rank 的前向与反向</translation>
    </message>
</context>
<context>
    <name>debubble::gui::FiguresTable</name>
    <message>
        <source>Figures of both</source>
        <translation>两者的数值</translation>
    </message>
    <message>
        <source>figure</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
</context>
<context>
    <name>debubble::gui::HelpSheet</name>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Schedules</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>The lower part of a bar, as high as its share, is communication that nothing hides; a wide bar shows its operators in a second row. From far away the kinds of work lie above each other, as high as their shares.</source>
        <translation>条形下部的高度按比例表示未被掩盖的通信；较宽的条形在第二行显示其算子。远观时，各类工作按比例上下叠放。</translation>
    </message>
    <message>
        <source>bubble = 1 - computes / (ranks x makespan). For every rank, busy + exposed communication + optimizer + idle = step time.</source>
        <translation>气泡 = 1 - 计算 /（rank 数 × makespan）。对每个 rank：忙碌 + 暴露的通信 + 优化器 + 空闲 = 步时间。</translation>
    </message>
    <message>
        <source>Keys and colours</source>
        <translation>按键与颜色</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>术语</translation>
    </message>
    <message>
        <source>Views</source>
        <translation>视图</translation>
    </message>
</context>
<context>
    <name>debubble::gui::IntervalSlider</name>
    <message>
        <source>Interval of saves</source>
        <translation>保存间隔</translation>
    </message>
    <message>
        <source>Drag the knob: what if the run saved that often? Home takes what loses least</source>
        <translation>拖动滑块:如果运行这样频繁地保存会怎样?Home 取损失最少者</translation>
    </message>
    <message>
        <source>Nothing fails: any interval will do</source>
        <translation>没有故障:任何间隔都可以</translation>
    </message>
    <message numerus="yes">
        <source>A save every %n step(s), %1: %2 of the time is useful</source>
        <translation>
            <numerusform>每 %n 步保存一次,%1:%2 的时间有用</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, where least is lost</source>
        <translation>%1,此处损失最少</translation>
    </message>
</context>
<context>
    <name>debubble::gui::MainWindow</name>
    <message>
        <source>debubble</source>
        <translation>debubble</translation>
    </message>
    <message>
        <source>what was predicted</source>
        <translation>预测结果</translation>
    </message>
    <message>
        <source>A run is under way; stop it first</source>
        <translation>有运行正在进行；请先停止</translation>
    </message>
    <message>
        <source>There is no plan yet that could be executed</source>
        <translation>尚无可执行的方案</translation>
    </message>
    <message>
        <source>Reading %1</source>
        <translation>正在读取 %1</translation>
    </message>
    <message>
        <source>Open a scenario, a trace, or two to compare</source>
        <translation>打开场景、轨迹，或两个以比较</translation>
    </message>
    <message>
        <source>Scenarios, traces and profiles (*.yaml *.yml *.json *.json.gz *.sqlite);;All files (*)</source>
        <translation>场景、轨迹与性能剖析 (*.yaml *.yml *.json *.json.gz *.sqlite);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Save the scenario</source>
        <translation>保存场景</translation>
    </message>
    <message>
        <source>Scenario</source>
        <translation>场景</translation>
    </message>
    <message>
        <source>Export the timeline</source>
        <translation>导出时间线</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>A film is being written; wait until it is</source>
        <translation>正在写入影片；请等待完成</translation>
    </message>
    <message>
        <source>The film is being made: %1</source>
        <translation>正在生成影片：%1</translation>
    </message>
    <message>
        <source>Nothing is open that could be copied</source>
        <translation>没有可复制的内容</translation>
    </message>
    <message>
        <source>Copied: the picture, and %1</source>
        <translation>已复制：图片，以及 %1</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <source>Steps of the trace</source>
        <translation>轨迹中的训练步</translation>
    </message>
    <message>
        <source>The selection in a sentence</source>
        <translation>一句话说明所选内容</translation>
    </message>
    <message>
        <source>Execute</source>
        <translation>执行</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Tool bar</source>
        <translation>工具栏</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Panels beside</source>
        <translation>侧边面板</translation>
    </message>
    <message>
        <source>Panels below</source>
        <translation>底部面板</translation>
    </message>
    <message>
        <source>Unsaved changes cannot be kept: %1</source>
        <translation>无法保留未保存的更改：%1</translation>
    </message>
    <message>
        <source>Unsaved changes</source>
        <translation>未保存的更改</translation>
    </message>
    <message>
        <source>%1 has changes that are not saved, and they cannot be kept for the next start.</source>
        <translation>%1 有未保存的更改，且无法保留到下次启动。</translation>
    </message>
    <message>
        <source>Changes of %1 were not saved when the window closed.</source>
        <translation>窗口关闭时 %1 的更改尚未保存。</translation>
    </message>
    <message>
        <source>  (1 of %1)</source>
        <translation>（1/%1）</translation>
    </message>
    <message>
        <source>Restore them</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Throw them away</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>%1 has changes that are not saved.</source>
        <translation>%1 有未保存的更改。</translation>
    </message>
    <message>
        <source>Another scenario takes its place.</source>
        <translation>另一个场景将取而代之。</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo the what-if</source>
        <translation>撤销假设(&amp;U)</translation>
    </message>
    <message>
        <source>Return to the plan before</source>
        <translation>回到之前的方案</translation>
    </message>
    <message>
        <source>&amp;Redo the what-if</source>
        <translation>重做假设(&amp;R)</translation>
    </message>
    <message>
        <source>Apply the change again</source>
        <translation>再次应用更改</translation>
    </message>
    <message>
        <source>Cop&amp;y picture and command</source>
        <translation>复制图片与命令(&amp;Y)</translation>
    </message>
    <message>
        <source>The timeline, and the command line that shows the same</source>
        <translation>时间线，以及显示相同内容的命令行</translation>
    </message>
    <message>
        <source>&amp;Compare with this plan from now on</source>
        <translation>从现在起与此方案比较(&amp;C)</translation>
    </message>
    <message>
        <source>The ghost and the differences are of this plan, not of the one before</source>
        <translation>虚影与差异均相对于此方案，而非前一个</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>方案(&amp;P)</translation>
    </message>
    <message>
        <source>Change the sche&amp;dule</source>
        <translation>更改调度(&amp;D)</translation>
    </message>
    <message>
        <source>Opens the list of schedules</source>
        <translation>打开调度列表</translation>
    </message>
    <message>
        <source>E&amp;xecute the plan</source>
        <translation>执行方案(&amp;X)</translation>
    </message>
    <message>
        <source>Train on this machine, and compare what ran with what was predicted</source>
        <translation>在本机上训练，并将实际运行与预测比较</translation>
    </message>
    <message>
        <source>Show the &amp;plan</source>
        <translation>显示方案(&amp;P)</translation>
    </message>
    <message>
        <source>Instead of a trace or a comparison, which can be shown again</source>
        <translation>代替轨迹或比较，之后可再次显示</translation>
    </message>
    <message>
        <source>&amp;Lay it above the pinned plan</source>
        <translation>置于固定方案之上(&amp;L)</translation>
    </message>
    <message>
        <source>On one axis, with the differences; without a pin, above the one before; a trace in front, below the plan</source>
        <translation>在同一坐标轴上并显示差异；未固定时置于前一方案之上；当前轨迹则置于方案之下</translation>
    </message>
    <message>
        <source>Show the &amp;trace again</source>
        <translation>再次显示轨迹(&amp;T)</translation>
    </message>
    <message>
        <source>The trace or the comparison that the plan took from the screen</source>
        <translation>被方案替换下的轨迹或比较</translation>
    </message>
    <message>
        <source>&amp;Sweep the grid</source>
        <translation>扫描网格(&amp;S)</translation>
    </message>
    <message>
        <source>Predict every plan of the grid</source>
        <translation>预测网格中的每个方案</translation>
    </message>
    <message>
        <source>Search the &amp;best plan</source>
        <translation>搜索最佳方案(&amp;B)</translation>
    </message>
    <message>
        <source>The fastest plan of the grid that fits; undo takes it back</source>
        <translation>网格中放得下的最快方案；可撤销</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Keys, colours and words</source>
        <translation>按键、颜色与术语(&amp;K)</translation>
    </message>
    <message>
        <source>All keys, what the colours mean, and every schedule</source>
        <translation>全部按键、颜色含义与每种调度</translation>
    </message>
    <message>
        <source>&amp;About debubble</source>
        <translation>关于 debubble(&amp;A)</translation>
    </message>
    <message>
        <source>Version and licence</source>
        <translation>版本与许可证</translation>
    </message>
    <message>
        <source>About debubble</source>
        <translation>关于 debubble</translation>
    </message>
    <message>
        <source>&lt;b&gt;debubble %1&lt;/b&gt;&lt;p&gt;Plans, predicts, shows and runs the pipeline-parallel training of transformers.&lt;/p&gt;&lt;p&gt;Apache License 2.0. Made with Qt %2.&lt;/p&gt;</source>
        <translation>&lt;b&gt;debubble %1&lt;/b&gt;&lt;p&gt;规划、预测、展示并运行 Transformer 的流水线并行训练。&lt;/p&gt;&lt;p&gt;Apache 许可证 2.0。使用 Qt %2 构建。&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&amp;Find a command...</source>
        <translation>查找命令(&amp;F)...</translation>
    </message>
    <message>
        <source>All commands by name</source>
        <translation>按名称列出全部命令</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open...</source>
        <translation>打开(&amp;O)...</translation>
    </message>
    <message>
        <source>A scenario, a trace, or two to compare</source>
        <translation>场景、轨迹，或两个以比较</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>Open a &amp;shipped scenario</source>
        <translation>打开自带场景(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Save the scenario</source>
        <translation>保存场景(&amp;S)</translation>
    </message>
    <message>
        <source>As YAML</source>
        <translation>存为 YAML</translation>
    </message>
    <message>
        <source>Save the scenario &amp;as...</source>
        <translation>场景另存为(&amp;A)...</translation>
    </message>
    <message>
        <source>Under another name</source>
        <translation>以另一名称</translation>
    </message>
    <message>
        <source>&amp;Export the timeline...</source>
        <translation>导出时间线(&amp;E)...</translation>
    </message>
    <message>
        <source>SVG, PNG, PDF, a page, a film, Chrome JSON or CSV</source>
        <translation>SVG、PNG、PDF、网页、影片、Chrome JSON 或 CSV</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Unsaved changes are kept and offered at the next start</source>
        <translation>未保存的更改会保留，并在下次启动时提供</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>Key in the timeline: %1</source>
        <translation>时间线中的按键：%1</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Show &amp;all</source>
        <translation>显示全部(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Focus the selection</source>
        <translation>聚焦所选(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Next action</source>
        <translation>下一个操作(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous action</source>
        <translation>上一个操作(&amp;P)</translation>
    </message>
    <message>
        <source>Next &amp;bubble</source>
        <translation>下一个气泡(&amp;B)</translation>
    </message>
    <message>
        <source>Previous bubbl&amp;e</source>
        <translation>上一个气泡(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Go to what ends the bubble</source>
        <translation>转到结束气泡的操作(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Mark</source>
        <translation>标记(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Critical path</source>
        <translation>关键路径(&amp;C)</translation>
    </message>
    <message>
        <source>Pla&amp;y the step</source>
        <translation>回放训练步(&amp;Y)</translation>
    </message>
    <message>
        <source>Memor&amp;y to its own scale</source>
        <translation>显存使用自身比例(&amp;Y)</translation>
    </message>
    <message>
        <source>Its lanes end at what is held, or at the limit again</source>
        <translation>其通道以占用量为上端，或恢复为上限</translation>
    </message>
    <message>
        <source>Show the &amp;links</source>
        <translation>显示链路(&amp;L)</translation>
    </message>
    <message>
        <source>A lane per rank and class of links: how much of their limit a plan uses</source>
        <translation>每个 rank 与每类链路一条通道：方案用到其上限的多少</translation>
    </message>
    <message>
        <source>Fold similar &amp;ranks</source>
        <translation>折叠相似的 rank(&amp;R)</translation>
    </message>
    <message>
        <source>Of more than 32 ranks, neighbours with similar steps share a row</source>
        <translation>超过 32 个 rank 时，训练步相似的相邻 rank 共用一行</translation>
    </message>
    <message>
        <source>Show every ran&amp;k</source>
        <translation>显示每个 rank(&amp;K)</translation>
    </message>
    <message>
        <source>Not only those of a brush</source>
        <translation>不只显示刷选的部分</translation>
    </message>
    <message>
        <source>Find &amp;actions...</source>
        <translation>查找操作(&amp;A)...</translation>
    </message>
    <message>
        <source>By name, kind, rank, length</source>
        <translation>按名称、类型、rank、长度</translation>
    </message>
    <message>
        <source>Colour &amp;by</source>
        <translation>着色方式(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>语言(&amp;G)</translation>
    </message>
    <message>
        <source>Fold the pane&amp;ls beside</source>
        <translation>折叠侧边面板(&amp;L)</translation>
    </message>
    <message>
        <source>Hides them, or shows them again</source>
        <translation>隐藏，或再次显示</translation>
    </message>
    <message>
        <source>Fold the panels &amp;below</source>
        <translation>折叠底部面板(&amp;B)</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <translation>全屏(&amp;U)</translation>
    </message>
    <message>
        <source>Without the frame of the window, or with it again</source>
        <translation>无窗口边框，或恢复边框</translation>
    </message>
    <message>
        <source>&amp;Reset the layout</source>
        <translation>重置布局(&amp;R)</translation>
    </message>
    <message>
        <source>Tool bar and panels as at the first start</source>
        <translation>工具栏与面板恢复为首次启动时的样子</translation>
    </message>
    <message>
        <source>The colours of the window</source>
        <translation>窗口的颜色</translation>
    </message>
    <message>
        <source>Theme of the &amp;system</source>
        <translation>系统主题(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Light theme</source>
        <translation>浅色主题(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Dark theme</source>
        <translation>深色主题(&amp;D)</translation>
    </message>
    <message>
        <source>Language of the s&amp;ystem</source>
        <translation>系统语言(&amp;Y)</translation>
    </message>
    <message>
        <source>From the next start on</source>
        <translation>下次启动起生效</translation>
    </message>
    <message>
        <source>The window speaks this language from its next start on</source>
        <translation>窗口自下次启动起使用此语言</translation>
    </message>
    <message>
        <source>Colour by &amp;kind</source>
        <translation>按类型着色(&amp;K)</translation>
    </message>
    <message>
        <source>Forward, backward, communication, optimizer</source>
        <translation>前向、反向、通信、优化器</translation>
    </message>
    <message>
        <source>Colour by &amp;microbatch</source>
        <translation>按微批次着色(&amp;M)</translation>
    </message>
    <message>
        <source>A colour per microbatch</source>
        <translation>每个微批次一种颜色</translation>
    </message>
    <message>
        <source>Colour by &amp;stage</source>
        <translation>按阶段着色(&amp;S)</translation>
    </message>
    <message>
        <source>A colour per stage of the model</source>
        <translation>模型每个阶段一种颜色</translation>
    </message>
    <message>
        <source>Colour by &amp;error</source>
        <translation>按误差着色(&amp;E)</translation>
    </message>
    <message>
        <source>In a comparison: blue where A is shorter, red where longer</source>
        <translation>比较时：A 较短处为蓝，较长处为红</translation>
    </message>
    <message numerus="yes">
        <source>%n action(s)</source>
        <translation>
            <numerusform>%n 个操作</numerusform>
        </translation>
    </message>
    <message>
        <source>A has %1 actions, B %2</source>
        <translation>A 有 %1 个操作，B 有 %2 个</translation>
    </message>
    <message>
        <source>%1[*] - debubble</source>
        <translation>%1[*] - debubble</translation>
    </message>
    <message>
        <source>%1 - debubble</source>
        <translation>%1 - debubble</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>步 %1</translation>
    </message>
    <message>
        <source>Click a bar or a bubble, and here it says why it is there; drag for the totals of an area</source>
        <translation>点击条形或气泡，此处说明其原因；拖动可得区域总计</translation>
    </message>
    <message>
        <source>Above what was simulated, below what was executed</source>
        <translation>上为模拟，下为执行</translation>
    </message>
    <message>
        <source>Above this plan, below the one that was pinned</source>
        <translation>上为此方案，下为固定的方案</translation>
    </message>
    <message>
        <source>Above this plan, below the one before</source>
        <translation>上为此方案，下为前一方案</translation>
    </message>
    <message>
        <source>%1 stays open behind this</source>
        <translation>%1 仍在其后打开</translation>
    </message>
    <message>
        <source>Back to the plan</source>
        <translation>返回方案</translation>
    </message>
    <message>
        <source>this plan</source>
        <translation>此方案</translation>
    </message>
    <message>
        <source>There is no other plan to compare with: pin one (Ctrl+K) and change something</source>
        <translation>没有可比较的其他方案：请固定一个（Ctrl+K）再做更改</translation>
    </message>
    <message>
        <source>the plan before</source>
        <translation>前一方案</translation>
    </message>
    <message>
        <source>Pages: %1</source>
        <translation>页面：%1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::MessageStrip</name>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一条</translation>
    </message>
    <message>
        <source>Close the message</source>
        <translation>关闭消息</translation>
    </message>
    <message>
        <source>Show the place</source>
        <translation>显示位置</translation>
    </message>
    <message>
        <source>  (%1 of %2)</source>
        <translation>（%1/%2）</translation>
    </message>
</context>
<context>
    <name>debubble::gui::NodesView</name>
    <message>
        <source>Days and cost over the number of GPUs</source>
        <translation>天数和费用随 GPU 数的变化</translation>
    </message>
    <message>
        <source>%1 nodes, %2 GPUs: %3 d (P5 %4, P95 %5), %6 of the time is useful</source>
        <translation>%1 个节点,%2 个 GPU:%3 天(P5 %4,P95 %5),%6 的时间有用</translation>
    </message>
    <message>
        <source>GPUs that are paid for, spares too</source>
        <translation>付费的 GPU,含备用</translation>
    </message>
    <message>
        <source>days, P5 to P95</source>
        <translation>天数,P5 至 P95</translation>
    </message>
    <message>
        <source>cost in %1</source>
        <translation>费用(%1)</translation>
    </message>
    <message>
        <source>The run is predicted on other numbers of GPUs ...</source>
        <translation>正在其他 GPU 数上预测运行……</translation>
    </message>
    <message>
        <source>A click takes these nodes</source>
        <translation>点击采用这些节点</translation>
    </message>
</context>
<context>
    <name>debubble::gui::OverviewView</name>
    <message>
        <source>All ranks, a line each</source>
        <translation>所有 rank，各占一行</translation>
    </message>
    <message>
        <source>Nothing is open</source>
        <translation>未打开任何内容</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RanksPage</name>
    <message>
        <source>All ranks</source>
        <translation>所有 rank</translation>
    </message>
    <message>
        <source>all ranks at once, and which of them are similar</source>
        <translation>一次看到所有 rank，以及哪些彼此相似</translation>
    </message>
    <message>
        <source>Show all ran&amp;ks</source>
        <translation>显示所有 rank(&amp;K)</translation>
    </message>
    <message>
        <source>A line of pixels each; a brush shows the rows of some alone</source>
        <translation>每个一行像素；刷选后仅显示所选行</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RemedyStrip</name>
    <message>
        <source>What would make the plan fit</source>
        <translation>使方案放得下的办法</translation>
    </message>
    <message>
        <source>It would fit with</source>
        <translation>若采用以下则放得下</translation>
    </message>
    <message>
        <source>It would be possible with</source>
        <translation>若采用以下则可行</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 改为 %2</translation>
    </message>
    <message>
        <source>its default</source>
        <translation>默认值</translation>
    </message>
    <message>
        <source>Sets %1; undo takes it back</source>
        <translation>设置 %1；可撤销</translation>
    </message>
    <message>
        <source>No change of one field makes it fit</source>
        <translation>改动任何单个字段都放不下</translation>
    </message>
    <message>
        <source>Search for the best plan</source>
        <translation>搜索最佳方案</translation>
    </message>
    <message>
        <source>The fastest plan of the grid that fits</source>
        <translation>网格中放得下的最快方案</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunDock</name>
    <message>
        <source>Execute</source>
        <translation>执行</translation>
    </message>
    <message>
        <source>the plan trained on this machine, compared with its prediction</source>
        <translation>在本机上训练该方案，并与预测对照</translation>
    </message>
    <message>
        <source>A run is under way</source>
        <translation>有运行正在进行</translation>
    </message>
    <message>
        <source>The run is still ending.</source>
        <translation>运行仍在结束中。</translation>
    </message>
    <message>
        <source>A training run is under way.</source>
        <translation>有训练运行正在进行。</translation>
    </message>
    <message>
        <source>Killed now, it loses what it has not saved.</source>
        <translation>现在终止会丢失未保存的内容。</translation>
    </message>
    <message>
        <source>It ends with the window, after its current step.</source>
        <translation>它会在当前步之后随窗口结束。</translation>
    </message>
    <message>
        <source>Kill it and quit</source>
        <translation>终止并退出</translation>
    </message>
    <message>
        <source>End it and quit</source>
        <translation>结束并退出</translation>
    </message>
    <message>
        <source>Wait</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunPage</name>
    <message>
        <source>Where the run&apos;s time goes</source>
        <translation>运行时间的去向</translation>
    </message>
    <message>
        <source>of the mean run</source>
        <translation>平均运行中</translation>
    </message>
    <message>
        <source>of the run; below, of what is lost</source>
        <translation>占运行;以下占损失</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>The whole training run</source>
        <translation>整个训练运行</translation>
    </message>
    <message>
        <source>What the scenario does not say</source>
        <translation>场景未说明的内容</translation>
    </message>
    <message>
        <source>The run in a line</source>
        <translation>一行概括运行</translation>
    </message>
    <message>
        <source>number of nodes</source>
        <translation>节点数</translation>
    </message>
    <message>
        <source>interval of saves</source>
        <translation>保存间隔</translation>
    </message>
    <message>
        <source>Of all that is lost, %1 of the run</source>
        <translation>占全部损失(运行的 %1)</translation>
    </message>
    <message>
        <source>Of the whole run</source>
        <translation>占整个运行</translation>
    </message>
    <message>
        <source>The run does not end: it fails too often</source>
        <translation>运行不会结束:故障太频繁</translation>
    </message>
    <message>
        <source>%1 for %2 tokens</source>
        <translation>%2 个 token 用时 %1</translation>
    </message>
    <message>
        <source>, from %1 (P5) to %2 (P95)</source>
        <translation>,从 %1(P5)到 %2(P95)</translation>
    </message>
    <message>
        <source>; %1 of the time is useful</source>
        <translation>;%1 的时间有用</translation>
    </message>
    <message>
        <source>; a failure every %1</source>
        <translation>;每 %1 一次故障</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>没有打开的计划</translation>
    </message>
    <message>
        <source>The scenario does not say how long it trains. Type %1</source>
        <translation>场景没有说明训练多久。请输入 %1</translation>
    </message>
    <message>
        <source>Nothing stops this run, so nothing of it is lost. Type %1</source>
        <translation>没有任何东西中断此运行,因此没有损失。请输入 %1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunPanel</name>
    <message>
        <source>Launch command</source>
        <translation>启动命令</translation>
    </message>
    <message>
        <source>none, or for example mpirun -n 4</source>
        <translation>无，或例如 mpirun -n 4</translation>
    </message>
    <message>
        <source>Put before &apos;debubble run ...&apos;</source>
        <translation>置于 &apos;debubble run ...&apos; 之前</translation>
    </message>
    <message>
        <source>Training steps</source>
        <translation>训练步数</translation>
    </message>
    <message>
        <source>as the scenario says</source>
        <translation>按场景</translation>
    </message>
    <message>
        <source>Folder of the runs</source>
        <translation>运行的文件夹</translation>
    </message>
    <message>
        <source>Each run has a folder of its own in here, with its trace, metrics and checkpoints; ranks on several hosts must all see it. Without a name the newest %1 are kept; in a folder with a name all are</source>
        <translation>每次运行在此有自己的文件夹，含轨迹、指标与检查点；多台主机上的 rank 都必须可见。未命名时保留最新 %1 个；命名文件夹则全部保留</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run or stop</source>
        <translation>运行或停止</translation>
    </message>
    <message>
        <source>Trains on this machine by the plan that is shown, from the beginning; the scenario&apos;s own checkpoints stay as they are</source>
        <translation>在本机按所示方案从头训练；场景自身的检查点保持不变</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>token/s</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>运行日志</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Files in</source>
        <translation>文件位于</translation>
    </message>
    <message>
        <source>%1 cannot be started: %2</source>
        <translation>无法启动 %1：%2</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The run is under way; its files and checkpoints are in %1</source>
        <translation>运行正在进行；其文件与检查点位于 %1</translation>
    </message>
    <message>
        <source>Kill</source>
        <translation>终止</translation>
    </message>
    <message>
        <source>The run ends after the current step</source>
        <translation>运行将在当前步后结束</translation>
    </message>
    <message numerus="yes">
        <source>Done: %n step(s); the files are in %1</source>
        <translation>
            <numerusform>完成：%n 步；文件位于 %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Killed</source>
        <translation>已终止</translation>
    </message>
    <message>
        <source>The run crashed</source>
        <translation>运行崩溃</translation>
    </message>
    <message>
        <source>The run crashed; its log says more</source>
        <translation>运行崩溃；详见日志</translation>
    </message>
    <message>
        <source>Ended with code %1</source>
        <translation>以代码 %1 结束</translation>
    </message>
    <message>
        <source>The run ended with code %1: %2</source>
        <translation>运行以代码 %1 结束：%2</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ScatterView</name>
    <message>
        <source>Plans of the sweep</source>
        <translation>扫描的方案</translation>
    </message>
    <message>
        <source>Plans appear here as they are predicted</source>
        <translation>方案在预测后显示于此</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>上限</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>the open plan</source>
        <translation>打开的方案</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SchedulesPage</name>
    <message>
        <source>Schedules</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>every schedule of this plan, with its picture and its figures</source>
        <translation>该方案的每种调度，附图与数据</translation>
    </message>
    <message>
        <source>Show every sche&amp;dule</source>
        <translation>显示每种调度(&amp;D)</translation>
    </message>
    <message>
        <source>Of this plan, beside each other</source>
        <translation>此方案的各种调度并列</translation>
    </message>
    <message>
        <source>take the schedule</source>
        <translation>采用该调度</translation>
    </message>
    <message>
        <source>pin it at the top, and compare the others with it</source>
        <translation>固定到顶部，并与其他比较</translation>
    </message>
</context>
<context>
    <name>debubble::gui::StripView</name>
    <message>
        <source>%1 d</source>
        <translation>%1 天</translation>
    </message>
    <message>
        <source>One drawn run from its first step to its last</source>
        <translation>一次抽取的运行,从第一步到最后一步</translation>
    </message>
    <message>
        <source>From %1 to %2 of %3</source>
        <translation>从 %1 到 %2,共 %3</translation>
    </message>
    <message>
        <source>; it begins with %1</source>
        <translation>;开始是%1</translation>
    </message>
    <message numerus="yes">
        <source>%n failure(s) in sight</source>
        <translation>
            <numerusform>可见 %n 次故障</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 from %2 on, for %3</source>
        <translation>%1,从 %2 起,持续 %3</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SummaryDock</name>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>the plan&apos;s figures, and bars for the parts of its step</source>
        <translation>方案的数据，以及步时各部分的条形</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SummaryPanel</name>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SweepPage</name>
    <message>
        <source>Sweep</source>
        <translation>扫描</translation>
    </message>
    <message>
        <source>every plan of a grid as a table and a plot, or its best one</source>
        <translation>网格中的每个方案，以表格和散点图呈现，或其中最佳者</translation>
    </message>
    <message>
        <source>Show the s&amp;weep</source>
        <translation>显示扫描(&amp;W)</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>在窗口中央</translation>
    </message>
    <message>
        <source>wheel</source>
        <translation>滚轮</translation>
    </message>
    <message>
        <source>zoom at the pointer; outside the plot, only the axis there</source>
        <translation>在指针处缩放；在图旁则仅缩放该轴</translation>
    </message>
    <message>
        <source>drag</source>
        <translation>拖动</translation>
    </message>
    <message>
        <source>zoom into a rectangle; Shift+drag moves</source>
        <translation>放大到矩形；Shift+拖动平移</translation>
    </message>
    <message>
        <source>show all plans; so does a double click</source>
        <translation>显示所有方案；双击亦可</translation>
    </message>
    <message>
        <source>These plans are of %1, which is not open</source>
        <translation>这些方案属于 %1，而它并未打开</translation>
    </message>
    <message>
        <source>point %1</source>
        <translation>点 %1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SweepPanel</name>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>扫描</translation>
    </message>
    <message>
        <source>%1 of %2 plans, %3 fit</source>
        <translation>%2 个方案中的 %1 个，%3 个放得下</translation>
    </message>
    <message>
        <source>%1 of %2 plans settled</source>
        <translation>%2 个方案中已确定 %1 个</translation>
    </message>
    <message>
        <source>; %1 are the same plan as another one and listed once</source>
        <translation>；%1 个与其他方案相同，只列一次</translation>
    </message>
    <message>
        <source>; %1 from an earlier sweep</source>
        <translation>；%1 个来自先前的扫描</translation>
    </message>
    <message>
        <source>; %1 s left</source>
        <translation>；剩余 %1 秒</translation>
    </message>
    <message>
        <source>; stopped</source>
        <translation>；已停止</translation>
    </message>
    <message>
        <source>; not kept for later, the file of the rows cannot be written</source>
        <translation>；无法写入结果文件，未予保留</translation>
    </message>
    <message>
        <source>Of %1; sweep again. %2</source>
        <translation>属于 %1；请重新扫描。%2</translation>
    </message>
    <message>
        <source>one colour</source>
        <translation>单色</translation>
    </message>
    <message>
        <source>Grid: a key and its values per line</source>
        <translation>网格：每行一个键及其取值</translation>
    </message>
    <message>
        <source>A key and its values per line; &apos;where&apos; holds conditions</source>
        <translation>每行一个键及其取值；&apos;where&apos; 为条件</translation>
    </message>
    <message>
        <source>Start or stop the sweep</source>
        <translation>开始或停止扫描</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Find the best plan of the grid, and take it</source>
        <translation>找出网格中的最佳方案并采用</translation>
    </message>
    <message>
        <source>The fastest plan that fits; those that cannot be it are not played</source>
        <translation>放得下的最快方案；不可能者不予推演</translation>
    </message>
    <message>
        <source>Progress of the sweep</source>
        <translation>扫描进度</translation>
    </message>
    <message>
        <source>A plan per point of the grid</source>
        <translation>网格每点一个方案</translation>
    </message>
    <message>
        <source>Filter of the table</source>
        <translation>表格筛选</translation>
    </message>
    <message>
        <source>Filter: fits, zb-h1, tensor=4, peak&lt;70, !impossible ...</source>
        <translation>筛选：放得下、zb-h1、tensor=4、peak&lt;70、!不可行 ……</translation>
    </message>
    <message>
        <source>CSV...</source>
        <translation>CSV...</translation>
    </message>
    <message>
        <source>Write the table as CSV</source>
        <translation>将表格写为 CSV</translation>
    </message>
    <message>
        <source>Plans of the sweep</source>
        <translation>扫描的方案</translation>
    </message>
    <message>
        <source>Across</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>纵轴</translation>
    </message>
    <message>
        <source>Coloured by</source>
        <translation>着色依据</translation>
    </message>
    <message>
        <source>The best plan</source>
        <translation>最佳方案</translation>
    </message>
    <message>
        <source>up</source>
        <translation>纵轴</translation>
    </message>
    <message>
        <source>across</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Write the table</source>
        <translation>写出表格</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TensorPanel</name>
    <message>
        <source>What a rank holds at its peak</source>
        <translation>rank 峰值时的占用</translation>
    </message>
    <message>
        <source>held at the peak</source>
        <translation>峰值时占用</translation>
    </message>
    <message>
        <source>size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>microbatch</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>born</source>
        <translation>产生</translation>
    </message>
    <message>
        <source>dies</source>
        <translation>释放</translation>
    </message>
    <message>
        <source>Click the dot on a memory lane: what is held there is listed here</source>
        <translation>点击显存通道上的圆点：此处列出当时的占用</translation>
    </message>
    <message>
        <source>A trace does not say which tensors it held</source>
        <translation>轨迹未记录占用了哪些张量</translation>
    </message>
    <message>
        <source>This plan has no rank %1</source>
        <translation>此方案没有 rank %1</translation>
    </message>
    <message>
        <source>rank %1: %2</source>
        <translation>rank %1：%2</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TensorsDock</name>
    <message>
        <source>Tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>the tensors that a rank holds at its peak</source>
        <translation>某个 rank 在峰值时持有的张量</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TextDock</name>
    <message>
        <source>Scenario</source>
        <translation>场景</translation>
    </message>
    <message>
        <source>the scenario&apos;s text, with its mistakes where they are</source>
        <translation>场景文本，错误标在其所在处</translation>
    </message>
    <message>
        <source>Edit the scenario&apos;s te&amp;xt</source>
        <translation>编辑场景文本(&amp;X)</translation>
    </message>
    <message>
        <source>Below the timeline</source>
        <translation>在时间线下方</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TimelinePage</name>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>what every rank does and when, why it waits, and what it holds</source>
        <translation>每个 rank 何时做什么、为何等待、持有什么</translation>
    </message>
    <message>
        <source>Show the ti&amp;meline</source>
        <translation>显示时间线(&amp;M)</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>在窗口中央</translation>
    </message>
    <message>
        <source>zoom in and out; Ctrl+wheel zooms at the pointer</source>
        <translation>放大与缩小；Ctrl+滚轮在指针处缩放</translation>
    </message>
    <message>
        <source>left and right; Shift+drag moves</source>
        <translation>左右移动；Shift+拖动平移</translation>
    </message>
    <message>
        <source>drag</source>
        <translation>拖动</translation>
    </message>
    <message>
        <source>measure, snapping to the edges of actions, with the totals of the rows that the drag crosses</source>
        <translation>测量，吸附到操作边缘，并给出所经各行的总计</translation>
    </message>
    <message>
        <source>click</source>
        <translation>点击</translation>
    </message>
    <message>
        <source>select an action or a bubble: what it waits for, and why</source>
        <translation>选择操作或气泡：它在等待什么，为什么</translation>
    </message>
    <message>
        <source>centre the selection, then fit it</source>
        <translation>将选中项居中，再适配视图</translation>
    </message>
    <message>
        <source>next and previous action</source>
        <translation>下一个与上一个操作</translation>
    </message>
    <message>
        <source>next and previous bubble: its cause and length are in the details</source>
        <translation>下一个与上一个气泡：原因和长度见详情</translation>
    </message>
    <message>
        <source>go to the action that ends the selected bubble</source>
        <translation>转到结束所选气泡的操作</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>of the selection&apos;s row: streams, keep at the top, make thin</source>
        <translation>选中行的菜单：流、置顶、变细</translation>
    </message>
    <message>
        <source>mark</source>
        <translation>标记</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>play the step, or stop; a drag along the ruler moves its cursor</source>
        <translation>回放训练步或停止；沿标尺拖动可移动光标</translation>
    </message>
    <message>
        <source>critical path</source>
        <translation>关键路径</translation>
    </message>
    <message>
        <source>show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>clear selection and measure</source>
        <translation>清除选择与测量</translation>
    </message>
    <message>
        <source>click the dot</source>
        <translation>点击圆点</translation>
    </message>
    <message>
        <source>of a memory lane: the tensors that are held at its peak</source>
        <translation>显存通道的圆点：峰值时占用的张量</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TimelineView</name>
    <message>
        <source>Selection</source>
        <translation>所选</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>Show its streams</source>
        <translation>显示其流</translation>
    </message>
    <message>
        <source>Show its links</source>
        <translation>显示其链路</translation>
    </message>
    <message>
        <source>Keep at the top</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Make thin</source>
        <translation>变细</translation>
    </message>
    <message>
        <source>Fold similar ranks</source>
        <translation>折叠相似的 rank</translation>
    </message>
    <message>
        <source>Show every rank</source>
        <translation>显示每个 rank</translation>
    </message>
    <message>
        <source>Tensors at its peak</source>
        <translation>峰值时的张量</translation>
    </message>
    <message>
        <source>Show all %1 replicas</source>
        <translation>显示全部 %1 个副本</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TornadoView</name>
    <message>
        <source>The step at half and at twice of each constant of the machine</source>
        <translation>机器各常数减半与加倍时的步时间</translation>
    </message>
    <message>
        <source>Drag a knob along its bar: what if the machine were such?</source>
        <translation>沿条形拖动旋钮：假如机器如此？</translation>
    </message>
    <message>
        <source>impossible</source>
        <translation>不可行</translation>
    </message>
    <message>
        <source>at %1: %2</source>
        <translation>%1 时：%2</translation>
    </message>
    <message>
        <source>half: %1, twice: %2</source>
        <translation>减半：%1，加倍：%2</translation>
    </message>
    <message>
        <source> × %1</source>
        <translation>× %1</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>没有打开的方案</translation>
    </message>
    <message>
        <source>The plan is predicted on other machines ...</source>
        <translation>正在其他机器上预测方案……</translation>
    </message>
    <message>
        <source>Step %1; at half and at twice of</source>
        <translation>步时间 %1；以下减半与加倍时</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WhatIfDock</name>
    <message>
        <source>What if</source>
        <translation>假设分析</translation>
    </message>
    <message>
        <source>the scenario&apos;s fields; a change is predicted at once</source>
        <translation>场景的各字段；改动会立即得到预测</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WhatIfPanel</name>
    <message>
        <source>Difference to the plan before</source>
        <translation>与前一方案之差</translation>
    </message>
    <message>
        <source> (follows from the rest)</source>
        <translation>（由其余推得）</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WholeRunPage</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>the whole training: days, cost, failures, and where its time goes</source>
        <translation>整个训练：天数、成本、故障，以及时间去向</translation>
    </message>
    <message>
        <source>Show the whole r&amp;un</source>
        <translation>显示整个运行(&amp;U)</translation>
    </message>
    <message>
        <source>Days, cost, and where its time goes</source>
        <translation>天数、费用和时间去向</translation>
    </message>
    <message>
        <source>Left, Right, Enter</source>
        <translation>左、右、Enter</translation>
    </message>
    <message>
        <source>on the curve: choose a number of nodes, and take it</source>
        <translation>在曲线上:选择节点数,并采用它</translation>
    </message>
    <message>
        <source>drag, Left, Right</source>
        <translation>拖动、左、右</translation>
    </message>
    <message>
        <source>the knob of the interval; Home takes what loses least</source>
        <translation>间隔的滑块;Home 取损失最少者</translation>
    </message>
    <message>
        <source>wheel, W, S</source>
        <translation>滚轮、W、S</translation>
    </message>
    <message>
        <source>zoom the drawn run; a drag, A and D move it, Home shows all</source>
        <translation>缩放抽取的运行;拖动、A 和 D 移动它,Home 显示全部</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WorstTable</name>
    <message>
        <source>Actions that differ most</source>
        <translation>差异最大的操作</translation>
    </message>
    <message>
        <source>worst</source>
        <translation>最差</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>apart</source>
        <translation>相差</translation>
    </message>
    <message>
        <source>error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>differ most</source>
        <translation>差异最大</translation>
    </message>
    <message>
        <source>change</source>
        <translation>变化</translation>
    </message>
</context>
<context>
    <name>debubble::gui::YamlEditor</name>
    <message>
        <source>Scenario text</source>
        <translation>场景文本</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ZooPanel</name>
    <message>
        <source>Schedules of the plan</source>
        <translation>方案的调度</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>step, on one axis</source>
        <translation>训练步（同一坐标轴）</translation>
    </message>
    <message>
        <source>step</source>
        <translation>训练步</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>暴露</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>没有打开的方案</translation>
    </message>
    <message>
        <source>Every schedule is predicted ...</source>
        <translation>正在预测每种调度……</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;: step %2. Enter takes it, Space pins it.</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;：步时间 %2。Enter 采用，空格固定。</translation>
    </message>
    <message>
        <source>, %1 stages a rank</source>
        <translation>，每 rank %1 个阶段</translation>
    </message>
    <message>
        <source>%1: Enter takes it, Space pins it</source>
        <translation>%1：Enter 采用，空格固定</translation>
    </message>
    <message>
        <source> (pinned)</source>
        <translation>（已固定）</translation>
    </message>
    <message>
        <source>cannot be had</source>
        <translation>不可采用</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
</context>
<context>
    <name>details</name>
    <message>
        <source>exposed communication</source>
        <translation>暴露的通信</translation>
    </message>
    <message>
        <source>idle: {}</source>
        <translation>空闲：{}</translation>
    </message>
    <message>
        <source>{} of 1 rank: </source>
        <translation>1 个 rank 的 {}：</translation>
    </message>
    <message>
        <source>{} of {} ranks: </source>
        <translation>{1} 个 rank 的 {0}：</translation>
    </message>
    <message>
        <source>start of {}</source>
        <translation>{} 的开始</translation>
    </message>
    <message>
        <source>end of {}</source>
        <translation>{} 的结束</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>测量</translation>
    </message>
    <message>
        <source>from</source>
        <translation>从</translation>
    </message>
    <message>
        <source>to</source>
        <translation>到</translation>
    </message>
    <message>
        <source>similar ranks {} to {}</source>
        <translation>rank {} 至 {} 相似</translation>
    </message>
    <message>
        <source>all passes</source>
        <translation>全部前向与反向</translation>
    </message>
    <message>
        <source>count A</source>
        <translation>A 的数量</translation>
    </message>
    <message>
        <source>count B</source>
        <translation>B 的数量</translation>
    </message>
    <message>
        <source>change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>按类型</translation>
    </message>
    <message>
        <source>passes by rank</source>
        <translation>各 rank 的前向与反向</translation>
    </message>
    <message>
        <source>of</source>
        <translation>属于</translation>
    </message>
    <message>
        <source>in {}</source>
        <translation>在 {} 中</translation>
    </message>
    <message>
        <source>does not occur</source>
        <translation>不存在</translation>
    </message>
    <message>
        <source>A against B</source>
        <translation>A 对比 B</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>waits for nothing</source>
        <translation>不等待任何操作</translation>
    </message>
    <message>
        <source>{} after {}</source>
        <translation>在 {1} 之后 {0}</translation>
    </message>
    <message>
        <source>follows {}</source>
        <translation>紧接 {}</translation>
    </message>
    <message>
        <source>action</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>of it waiting</source>
        <translation>其中等待</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>begins</source>
        <translation>开始原因</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>rank {}</source>
        <translation>rank {}</translation>
    </message>
    <message>
        <source>{}, {:.2g} % of the step</source>
        <translation>{}，占训练步的 {:.2g} %</translation>
    </message>
    <message>
        <source>ended by</source>
        <translation>结束于</translation>
    </message>
    <message>
        <source>idle in all</source>
        <translation>总空闲</translation>
    </message>
    <message>
        <source>held</source>
        <translation>占用</translation>
    </message>
    <message>
        <source>at</source>
        <translation>时刻</translation>
    </message>
    <message>
        <source>during</source>
        <translation>期间</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>lacking</source>
        <translation>不足</translation>
    </message>
    <message>
        <source>left</source>
        <translation>剩余</translation>
    </message>
    <message>
        <source>above the limit</source>
        <translation>超出上限</translation>
    </message>
    <message>
        <source>idle {:.1f} %</source>
        <translation>空闲 {:.1f} %</translation>
    </message>
    <message>
        <source>, {} of them</source>
        <translation>，共 {} 个</translation>
    </message>
    <message>
        <source>{} GiB at {} {}</source>
        <translation>{} GiB，位于 {} {}</translation>
    </message>
    <message>
        <source>cost</source>
        <translation>代价</translation>
    </message>
    <message>
        <source>{} in {} operators</source>
        <translation>{}，共 {} 个算子</translation>
    </message>
    <message>
        <source>each</source>
        <translation>每个</translation>
    </message>
    <message>
        <source>node</source>
        <translation>节点内</translation>
    </message>
    <message>
        <source>network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>links</source>
        <translation>链路</translation>
    </message>
    <message>
        <source>used</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>{:.1f} % of {:.3g} GB/s</source>
        <translation>{1:.3g} GB/s 的 {0:.1f} %</translation>
    </message>
    <message>
        <source>on average</source>
        <translation>平均</translation>
    </message>
    <message>
        <source>sent</source>
        <translation>已发送</translation>
    </message>
</context>
<context>
    <name>export</name>
    <message>
        <source>Vector picture</source>
        <translation>矢量图</translation>
    </message>
    <message>
        <source>Page to mail</source>
        <translation>可发送的网页</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Document</source>
        <translation>文档</translation>
    </message>
    <message>
        <source>Race of both</source>
        <translation>两者竞速</translation>
    </message>
    <message>
        <source>Step that is played</source>
        <translation>训练步回放</translation>
    </message>
    <message>
        <source>Race of both, as video</source>
        <translation>两者竞速（视频）</translation>
    </message>
    <message>
        <source>Step that is played, as video</source>
        <translation>训练步回放（视频）</translation>
    </message>
    <message>
        <source>Comparison in figures</source>
        <translation>数值对比</translation>
    </message>
    <message>
        <source>Trace for Perfetto</source>
        <translation>供 Perfetto 使用的轨迹</translation>
    </message>
    <message>
        <source>Table of the actions of both</source>
        <translation>两者的操作表</translation>
    </message>
    <message>
        <source>Table of actions</source>
        <translation>操作表</translation>
    </message>
</context>
<context>
    <name>fields</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>a model of the zoo; other files and maps in the text below</source>
        <translation>模型库中的模型；其他文件和映射写在下方文本中</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>the first layers of the base, or all</source>
        <translation>基础模型的前若干层，或全部</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>集群</translation>
    </message>
    <message>
        <source>the machine</source>
        <translation>机器</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>GPUs of all nodes</source>
        <translation>所有节点的 GPU</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点数</translation>
    </message>
    <message>
        <source>nodes of the cluster</source>
        <translation>集群的节点</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>张量并行</translation>
    </message>
    <message>
        <source>GPUs that share each layer (TP)</source>
        <translation>共同计算每一层的 GPU（TP）</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>流水线并行</translation>
    </message>
    <message>
        <source>ranks that share out the layers (PP)</source>
        <translation>分担各层的 rank（PP）</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文并行</translation>
    </message>
    <message>
        <source>GPUs that share each sequence (CP)</source>
        <translation>共同处理每个序列的 GPU（CP）</translation>
    </message>
    <message>
        <source>Expert</source>
        <translation>专家并行</translation>
    </message>
    <message>
        <source>GPUs that share each layer&apos;s experts (EP)</source>
        <translation>分担每层专家的 GPU（EP）</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据并行</translation>
    </message>
    <message>
        <source>replicas (DP); auto: all GPUs that are left</source>
        <translation>副本（DP）；auto：其余所有 GPU</translation>
    </message>
    <message>
        <source>now {}</source>
        <translation>现为 {}</translation>
    </message>
    <message>
        <source>Sequence parallel</source>
        <translation>序列并行</translation>
    </message>
    <message>
        <source>norms and dropout cut along the sequence, inside the tensor group</source>
        <translation>归一化与 dropout 在张量组内沿序列切分</translation>
    </message>
    <message>
        <source>Dynamic context</source>
        <translation>动态上下文</translation>
    </message>
    <message>
        <source>groups of GPUs as large as the documents of a packed microbatch need</source>
        <translation>GPU 组的大小取决于打包微批次中的文档</translation>
    </message>
    <message>
        <source>imbalance.sequence gives no lengths of documents</source>
        <translation>imbalance.sequence 未给出文档长度</translation>
    </message>
    <message>
        <source>Expert tensor</source>
        <translation>专家张量并行</translation>
    </message>
    <message>
        <source>GPUs that cut each expert (ETP)</source>
        <translation>切分每个专家的 GPU（ETP）</translation>
    </message>
    <message>
        <source>Expert load</source>
        <translation>专家负载</translation>
    </message>
    <message>
        <source>tokens at the fullest GPU&apos;s experts over the mean; 1: the router balances</source>
        <translation>最满 GPU 的专家 token 数与均值之比；1：路由均衡</translation>
    </message>
    <message>
        <source>Balancing loss</source>
        <translation>均衡损失</translation>
    </message>
    <message>
        <source>the factor of the auxiliary loss; 0: there is none</source>
        <translation>辅助损失的系数；0：没有</translation>
    </message>
    <message>
        <source>Balanced tokens</source>
        <translation>均衡范围</translation>
    </message>
    <message>
        <source>those of a microbatch, of each sequence, or of a step on all replicas</source>
        <translation>一个微批次、每个序列，或所有副本一步的 token</translation>
    </message>
    <message>
        <source>Z-loss</source>
        <translation>Z-loss</translation>
    </message>
    <message>
        <source>the factor of the loss that keeps logits of routers small; 0: there is none</source>
        <translation>使路由 logits 保持较小的损失的系数；0：没有</translation>
    </message>
    <message>
        <source>{} has no experts</source>
        <translation>{} 没有专家</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>who computes what, in which order</source>
        <translation>谁以什么顺序计算什么</translation>
    </message>
    <message>
        <source>Stages per rank</source>
        <translation>每个 rank 的阶段数</translation>
    </message>
    <message>
        <source>chunks of the model on each pipeline rank</source>
        <translation>每个流水线 rank 上的模型块数</translation>
    </message>
    <message>
        <source>Microbatch</source>
        <translation>微批次大小</translation>
    </message>
    <message>
        <source>samples that pass the pipeline together</source>
        <translation>一同通过流水线的样本</translation>
    </message>
    <message>
        <source>Microbatches</source>
        <translation>微批次数</translation>
    </message>
    <message>
        <source>microbatches per replica and step</source>
        <translation>每个副本每步的微批次数</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>全局批次</translation>
    </message>
    <message>
        <source>samples of a step, of all replicas</source>
        <translation>所有副本一步的样本数</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>序列长度</translation>
    </message>
    <message>
        <source>tokens of a sample</source>
        <translation>每个样本的 token 数</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>activations computed again instead of kept</source>
        <translation>重新计算激活而不保存</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>sharded over replicas: 1 optimizer state, 2 and gradients, 3 and parameters</source>
        <translation>在副本间分片：1 优化器状态，2 加梯度，3 加参数</translation>
    </message>
    <message>
        <source>Shards</source>
        <translation>分片数</translation>
    </message>
    <message>
        <source>replicas that ZeRO shards over; copies of them add up what each has reduced</source>
        <translation>ZeRO 分片所跨的副本；它们的拷贝将各自归约的结果相加</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>bf16: 18 bytes a parameter, pure-bf16: 8, fp32: 16; fp16 as bf16 with loss scaling</source>
        <translation>bf16：每个参数 18 字节，pure-bf16：8，fp32：16；fp16 同 bf16 并带损失缩放</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>flash keeps no scores</source>
        <translation>flash 不保存分数</translation>
    </message>
    <message>
        <source>Offload optimizer</source>
        <translation>卸载优化器</translation>
    </message>
    <message>
        <source>main parameters and moments in the host&apos;s memory</source>
        <translation>主参数和动量存放在主机内存</translation>
    </message>
    <message>
        <source>Tensor overlap</source>
        <translation>张量重叠</translation>
    </message>
    <message>
        <source>GEMMs run in chunks, overlapped with their tensor-parallel collectives</source>
        <translation>矩阵乘分块进行，与张量并行的集合通信同时运行</translation>
    </message>
    <message>
        <source>Dispatcher</source>
        <translation>分发器</translation>
    </message>
    <message>
        <source>how tokens get to the ranks of their experts</source>
        <translation>token 如何到达其专家所在的 rank</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA 图</translation>
    </message>
    <message>
        <source>what the host launches as graphs; lists of modules in the text below</source>
        <translation>主机以图方式启动的内容；模块列表写在下方文本中</translation>
    </message>
    <message>
        <source>Router&apos;s spread</source>
        <translation>路由离散度</translation>
    </message>
    <message>
        <source>how much loads of experts differ by layer and microbatch, over their mean</source>
        <translation>专家负载随层和微批次的差异，相对于均值</translation>
    </message>
    <message>
        <source>every GPU has all experts of a layer</source>
        <translation>每个 GPU 拥有一层的全部专家</translation>
    </message>
    <message>
        <source>Jitter</source>
        <translation>抖动</translation>
    </message>
    <message>
        <source>how much the times of computes differ, over their mean</source>
        <translation>计算时间的差异，相对于均值</translation>
    </message>
    <message>
        <source>Schedule and parallelism</source>
        <translation>调度与并行</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>fits within the error</source>
        <translation>在误差内放得下</translation>
    </message>
    <message>
        <source>does not fit, within the error</source>
        <translation>在误差内放不下</translation>
    </message>
    <message>
        <source>no longer fits</source>
        <translation>不再放得下</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>fits now</source>
        <translation>现在放得下</translation>
    </message>
    <message>
        <source>Where the step goes</source>
        <translation>训练步的去向</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>暴露的通信</translation>
    </message>
    <message>
        <source>exposed: {}</source>
        <translation>暴露：{}</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>idle: {}</source>
        <translation>空闲：{}</translation>
    </message>
    <message>
        <source>; {} reserved</source>
        <translation>；保留 {}</translation>
    </message>
    <message>
        <source>rank {}</source>
        <translation>rank {}</translation>
    </message>
    <message>
        <source>{} of {} GiB at {}</source>
        <translation>{}/{} GiB，位于 {}</translation>
    </message>
    <message>
        <source>{} GiB at {}</source>
        <translation>{} GiB，位于 {}</translation>
    </message>
    <message>
        <source>no change</source>
        <translation>无变化</translation>
    </message>
    <message>
        <source>step {:+.1f} %, bubble {}, peak {}, {}</source>
        <translation>步时间 {:+.1f} %，气泡 {}，峰值 {}，{}</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>步时间</translation>
    </message>
    <message>
        <source>range</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>{} to {}</source>
        <translation>{} 至 {}</translation>
    </message>
    <message>
        <source>throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU（因果）</translation>
    </message>
    <message>
        <source>HFU</source>
        <translation>HFU</translation>
    </message>
    <message>
        <source>per GPU</source>
        <translation>每 GPU</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>{} (span {})</source>
        <translation>{}（跨度 {}）</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>published peaks</source>
        <translation>已发表的峰值</translation>
    </message>
    <message>
        <source>{} to {} GiB</source>
        <translation>{} 至 {} GiB</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>预留</translation>
    </message>
    <message>
        <source>memory left</source>
        <translation>剩余显存</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>峰值显存</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>说明</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>for one token</source>
        <translation>每个 token</translation>
    </message>
    <message>
        <source>{} parameters</source>
        <translation>{} 个参数</translation>
    </message>
    <message>
        <source>trace</source>
        <translation>轨迹</translation>
    </message>
    <message>
        <source>program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>cannot be told</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>{}: {} GiB too much</source>
        <translation>{}：超出 {} GiB</translation>
    </message>
</context>
<context>
    <name>formula</name>
    <message>
        <source>the fourth root of device^4 + host^4, less the device&apos;s own time</source>
        <translation>设备^4 + 主机^4 的四次方根，减去设备自身时间</translation>
    </message>
    <message>
        <source>gathered and reduced between replicas, as far as nothing hides it</source>
        <translation>在副本间收集与归约，未被掩盖的部分</translation>
    </message>
    <message>
        <source>measured: the interpreter&apos;s own work in a pass</source>
        <translation>实测：一次前向或反向中解释器自身的工作</translation>
    </message>
    <message>
        <source>the pass&apos;s share of host_micro_batch, since the host waits for messages before it goes on</source>
        <translation>host_micro_batch 中该前向或反向所占的份额，因为主机等消息到达后才继续</translation>
    </message>
    <message>
        <source>, {:.0f} % of the peak</source>
        <translation>，峰值的 {:.0f} %</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>, window {}</source>
        <translation>，窗口 {}</translation>
    </message>
    <message>
        <source>, causal</source>
        <translation>，因果</translation>
    </message>
    <message>
        <source>{} heads × {} queries × {} keys</source>
        <translation>{} 头 × {} 查询 × {} 键</translation>
    </message>
    <message>
        <source>, × {:.3g} of the best library&apos;s time</source>
        <translation>，最佳库时间的 × {:.3g}</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>公式</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>速率</translation>
    </message>
    <message>
        <source>{} of one multiprocessor / {} + {}</source>
        <translation>单个多处理器的 {} / {} + {}</translation>
    </message>
    <message>
        <source>({} read + {} written) / {:.4g} GB/s{} + {}</source>
        <translation>（读 {} + 写 {}）/ {:.4g} GB/s{} + {}</translation>
    </message>
    <message>
        <source>the shared experts, on a stream of their own</source>
        <translation>共享专家（独立的流）</translation>
    </message>
    <message>
        <source>the kernel that follows, computed chunk by chunk as the chunks arrive</source>
        <translation>其后的计算（随分块到达逐块进行）</translation>
    </message>
    <message>
        <source>the kernel before it, computed chunk by chunk as the chunks are sent</source>
        <translation>其前的计算（随分块发送逐块进行）</translation>
    </message>
    <message>
        <source>the kernel that follows</source>
        <translation>其后的核函数</translation>
    </message>
    <message>
        <source>the {} kernels that follow</source>
        <translation>其后的 {} 个核函数</translation>
    </message>
    <message>
        <source>nothing of it; where the framework overlaps them, {} could be</source>
        <translation>没有；若框架支持重叠，可由 {} 掩盖</translation>
    </message>
    <message>
        <source>by nothing</source>
        <translation>未被掩盖</translation>
    </message>
    <message>
        <source>{} of it, overlapped with {}</source>
        <translation>其中 {}，与 {} 重叠</translation>
    </message>
    <message>
        <source>{}{} of {} in the {} group: {} alone</source>
        <translation>{}{} {}，在 {} 组内：单独 {}</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>被掩盖</translation>
    </message>
    <message>
        <source>the median of the measurements</source>
        <translation>测量的中位数</translation>
    </message>
    <message>
        <source>not measured: by the rates of the device</source>
        <translation>未测量：按设备速率估算</translation>
    </message>
    <message>
        <source>cost</source>
        <translation>代价</translation>
    </message>
    <message>
        <source>{} alone</source>
        <translation>单独 {}</translation>
    </message>
    <message>
        <source>{} + {} / {:.4g} GB/s = {} alone</source>
        <translation>{} + {} / {:.4g} GB/s = 单独 {}</translation>
    </message>
</context>
<context>
    <name>help</name>
    <message>
        <source>before the rank&apos;s first compute</source>
        <translation>在该 rank 首次计算之前</translation>
    </message>
    <message>
        <source>after the rank&apos;s last compute, while others still compute</source>
        <translation>在该 rank 最后一次计算之后，其他 rank 仍在计算</translation>
    </message>
    <message>
        <source>another rank&apos;s compute is not done yet</source>
        <translation>另一个 rank 的计算尚未完成</translation>
    </message>
    <message>
        <source>the message is ready and has not arrived</source>
        <translation>消息已就绪但尚未到达</translation>
    </message>
    <message>
        <source>peers of a gather or reduction are late</source>
        <translation>收集或归约的同伴延误</translation>
    </message>
    <message>
        <source>no rank computes any more</source>
        <translation>没有 rank 再计算</translation>
    </message>
    <message>
        <source>all inputs are there, and the host is late</source>
        <translation>输入均已就绪，而主机延误</translation>
    </message>
    <message>
        <source>another rank has a greater load than the mean</source>
        <translation>另一个 rank 的负载高于平均</translation>
    </message>
    <message>
        <source>2F7</source>
        <translation>2F7</translation>
    </message>
    <message>
        <source>the forward of stage 2, microbatch 7; 2F7.1 of its slice 1</source>
        <translation>阶段 2、微批次 7 的前向；2F7.1 为其切片 1</translation>
    </message>
    <message>
        <source>B, I, W</source>
        <translation>B、I、W</translation>
    </message>
    <message>
        <source>backward; its halves: I makes the gradient of the input, which the stage before needs, and W that of the weights, which can wait</source>
        <translation>反向；两半：I 计算输入梯度，前一阶段需要它；W 计算权重梯度，可以推迟</translation>
    </message>
    <message>
        <source>R</source>
        <translation>R</translation>
    </message>
    <message>
        <source>a forward that is computed again, from the stage&apos;s saved input</source>
        <translation>由阶段保存的输入重新计算的前向</translation>
    </message>
    <message>
        <source>step</source>
        <translation>训练步</translation>
    </message>
    <message>
        <source>from the first action of all ranks to the last</source>
        <translation>从所有 rank 的第一个操作到最后一个</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>1 - computes / (ranks x makespan); a rank&apos;s idle time</source>
        <translation>1 - 计算 /（rank 数 × makespan）；一个 rank 的空闲时间</translation>
    </message>
    <message>
        <source>makespan</source>
        <translation>makespan</translation>
    </message>
    <message>
        <source>from the first compute of all ranks to the last</source>
        <translation>从所有 rank 的第一次计算到最后一次</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>暴露</translation>
    </message>
    <message>
        <source>communication during which the rank computes nothing</source>
        <translation>rank 不计算期间的通信</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>model FLOPs per second over the peak of their type; masked attention counts whole</source>
        <translation>每秒模型 FLOPs 与其类型峰值之比；被掩码的注意力全部计入</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU（因果）</translation>
    </message>
    <message>
        <source>the same with only what the mask leaves</source>
        <translation>同上，仅计掩码保留的部分</translation>
    </message>
    <message>
        <source>HFU</source>
        <translation>HFU</translation>
    </message>
    <message>
        <source>the same with what is computed again</source>
        <translation>同上，并计入重计算</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>the most memory that a rank holds; the allocator reserves some more</source>
        <translation>rank 占用的最大显存；分配器会保留更多</translation>
    </message>
</context>
<context>
    <name>kinds</name>
    <message>
        <source>tensor parallel</source>
        <translation>张量并行</translation>
    </message>
    <message>
        <source>context parallel</source>
        <translation>上下文并行</translation>
    </message>
    <message>
        <source>expert parallel</source>
        <translation>专家并行</translation>
    </message>
    <message>
        <source>data parallel</source>
        <translation>数据并行</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>流水线</translation>
    </message>
    <message>
        <source>copies to the host</source>
        <translation>到主机的拷贝</translation>
    </message>
</context>
<context>
    <name>links</name>
    <message>
        <source>The trace holds no sizes of messages, so that nothing tells what the links carry.</source>
        <translation>该轨迹没有消息大小，因此无法得知链路的负载。</translation>
    </message>
    <message>
        <source>Nothing is sent over links here.</source>
        <translation>这里没有经由链路的发送。</translation>
    </message>
</context>
<context>
    <name>opening</name>
    <message>
        <source>step {} of {}{}</source>
        <translation>第 {} 步，共 {} 步{}</translation>
    </message>
    <message>
        <source>, the median one</source>
        <translation>，即中位步</translation>
    </message>
    <message>
        <source>{} files: at most two can be compared</source>
        <translation>{} 个文件：最多比较两个</translation>
    </message>
    <message>
        <source>--set changes a scenario, and {} is a trace</source>
        <translation>--set 修改场景，而 {} 是轨迹</translation>
    </message>
    <message>
        <source>{} holds no program that {} could be of</source>
        <translation>{} 中没有 {} 可能对应的程序</translation>
    </message>
    <message>
        <source>{} shows no action of this plan</source>
        <translation>{} 中没有该方案的操作</translation>
    </message>
    <message>
        <source>not compared: {}</source>
        <translation>未比较：{}</translation>
    </message>
    <message>
        <source> (median)</source>
        <translation>（中位）</translation>
    </message>
</context>
<context>
    <name>parts</name>
    <message>
        <source>compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>暴露的通信</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>idle: warm-up</source>
        <translation>空闲：预热</translation>
    </message>
    <message>
        <source>idle: cool-down</source>
        <translation>空闲：收尾</translation>
    </message>
    <message>
        <source>idle: waits for a stage</source>
        <translation>空闲：等待阶段</translation>
    </message>
    <message>
        <source>idle: waits for a link</source>
        <translation>空闲：等待链路</translation>
    </message>
    <message>
        <source>idle: waits for a group</source>
        <translation>空闲：等待通信组</translation>
    </message>
    <message>
        <source>idle: optimizer barrier</source>
        <translation>空闲：优化器屏障</translation>
    </message>
    <message>
        <source>idle: host late</source>
        <translation>空闲：主机延误</translation>
    </message>
    <message>
        <source>idle: uneven load</source>
        <translation>空闲：负载不均</translation>
    </message>
</context>
<context>
    <name>play</name>
    <message>
        <source>begins in {}</source>
        <translation>{} 后开始</translation>
    </message>
    <message>
        <source>has done its passes</source>
        <translation>已完成全部前向与反向</translation>
    </message>
    <message>
        <source>waits at the optimizer, {}</source>
        <translation>在优化器处等待，{}</translation>
    </message>
    <message>
        <source>waits for its host, {}</source>
        <translation>等待主机，{}</translation>
    </message>
    <message>
        <source>waits, {}</source>
        <translation>等待，{}</translation>
    </message>
    <message>
        <source>waits for {} of rank {}, {}</source>
        <translation>等待 rank {1} 的 {0}，{2}</translation>
    </message>
    <message>
        <source>waits for {}, {}</source>
        <translation>等待 {}，{}</translation>
    </message>
    <message>
        <source>{} done at {}</source>
        <translation>{} 完成于 {}</translation>
    </message>
</context>
<context>
    <name>proposals</name>
    <message>
        <source>attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>重计算</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA 图</translation>
    </message>
    <message>
        <source>tensor overlap</source>
        <translation>张量重叠</translation>
    </message>
    <message>
        <source>sequence parallelism</source>
        <translation>序列并行</translation>
    </message>
    <message>
        <source>dispatcher</source>
        <translation>分发器</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>global batch</source>
        <translation>全局批次</translation>
    </message>
    <message>
        <source>stages per rank</source>
        <translation>每个 rank 的阶段数</translation>
    </message>
    <message>
        <source>partition</source>
        <translation>切分</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>recompute selective</source>
        <translation>选择性重计算</translation>
    </message>
    <message>
        <source>recompute full</source>
        <translation>完全重计算</translation>
    </message>
    <message>
        <source>ZeRO 1</source>
        <translation>ZeRO 1</translation>
    </message>
    <message>
        <source>ZeRO 2</source>
        <translation>ZeRO 2</translation>
    </message>
    <message>
        <source>ZeRO 3</source>
        <translation>ZeRO 3</translation>
    </message>
    <message>
        <source>optimizer on the host</source>
        <translation>优化器置于主机</translation>
    </message>
    <message>
        <source>all GPUs that are left as replicas</source>
        <translation>其余 GPU 全部作为副本</translation>
    </message>
    <message>
        <source>as many microbatches as the batch needs</source>
        <translation>按批次所需的微批次数</translation>
    </message>
    <message>
        <source>schedule 1f1b</source>
        <translation>调度 1f1b</translation>
    </message>
    <message>
        <source>microbatch 1</source>
        <translation>微批次 1</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>流水线</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>expert</source>
        <translation>专家</translation>
    </message>
    <message>
        <source>microbatch</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>step {:+.1f} %</source>
        <translation>步时间 {:+.1f} %</translation>
    </message>
    <message>
        <source>step {}</source>
        <translation>步时间 {}</translation>
    </message>
    <message>
        <source>replicas and microbatches as they come</source>
        <translation>副本与微批次数自动确定</translation>
    </message>
    <message>
        <source>network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>node links</source>
        <translation>节点内链路</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>latency</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>jitter</source>
        <translation>抖动</translation>
    </message>
</context>
<context>
    <name>schedules</name>
    <message>
        <source>two 1F1B pipelines in opposite directions, two copies of the parameters</source>
        <translation>两条方向相反的 1F1B 流水线，参数两份</translation>
    </message>
    <message>
        <source>interleaved 1F1B whose expert all-to-alls overlap in pairs of passes (Megatron-Core)</source>
        <translation>交错 1F1B，专家交换在配对中被掩盖（Megatron-Core）</translation>
    </message>
    <message>
        <source>a handmade ZB-V whose expert all-to-alls overlap in pairs of passes (Primus)</source>
        <translation>手工 ZB-V，专家交换在配对中被掩盖（Primus）</translation>
    </message>
    <message>
        <source>fed from both ends, forward and backward overlapped (DeepSeek-V3)</source>
        <translation>从两端输入，前向与反向重叠（DeepSeek-V3）</translation>
    </message>
    <message>
        <source>DualPipe cut in half, one copy of the parameters</source>
        <translation>DualPipe 对半切分，参数一份</translation>
    </message>
    <message>
        <source>1F1B with twice the warm-up, which hides the links (Alpa)</source>
        <translation>预热加倍的 1F1B，可掩盖链路（Alpa）</translation>
    </message>
    <message>
        <source>all forwards, then all backwards</source>
        <translation>先全部前向，再全部反向</translation>
    </message>
    <message>
        <source>interleaved 1F1B in groups, down to half the memory (GIS)</source>
        <translation>分组交错 1F1B，显存可降至一半（GIS）</translation>
    </message>
    <message>
        <source>1F1B over several chunks per rank, depth first (Megatron-LM)</source>
        <translation>每 rank 多块的 1F1B，深度优先（Megatron-LM）</translation>
    </message>
    <message>
        <source>ZB-H1 over several chunks per rank (PyTorch)</source>
        <translation>每 rank 多块的 ZB-H1（PyTorch）</translation>
    </message>
    <message>
        <source>several chunks per rank, breadth first</source>
        <translation>每 rank 多块，广度优先</translation>
    </message>
    <message>
        <source>one forward, one backward (PipeDream-Flush)</source>
        <translation>一前向一反向（PipeDream-Flush）</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, backward fused, two thirds of 1F1B&apos;s memory</source>
        <translation>每 rank 两块呈 V 形，反向融合，显存为 1F1B 的三分之二</translation>
    </message>
    <message>
        <source>1F1B over slices of sequences, for causal attention</source>
        <translation>按序列切片的 1F1B，用于因果注意力</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, half of 1F1B&apos;s memory</source>
        <translation>每 rank 两块呈 V 形，显存为 1F1B 的一半</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, a third of 1F1B&apos;s memory</source>
        <translation>每 rank 两块呈 V 形，显存为 1F1B 的三分之一</translation>
    </message>
    <message>
        <source>zero bubble by search, under --memory-limit and for measured costs</source>
        <translation>搜索得到的零气泡，受 --memory-limit 约束并按测得代价</translation>
    </message>
    <message>
        <source>zero bubble with 1F1B&apos;s memory</source>
        <translation>零气泡，显存同 1F1B</translation>
    </message>
    <message>
        <source>zero bubble with twice 1F1B&apos;s memory</source>
        <translation>零气泡，显存为 1F1B 的两倍</translation>
    </message>
    <message>
        <source>zero bubble with two chunks per rank in a V, and 1F1B&apos;s memory</source>
        <translation>零气泡，每 rank 两块呈 V 形，显存同 1F1B</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source>nothing to search for</source>
        <translation>没有可搜索的内容</translation>
    </message>
    <message>
        <source>“{}” is not an action, kind or place; try 2F0, send, rank 3, bubble &gt; 5 ms</source>
        <translation>“{}”不是操作、类型或位置；可试 2F0、send、rank 3、bubble &gt; 5 ms</translation>
    </message>
    <message>
        <source>{} needs a number</source>
        <translation>{} 需要一个数字</translation>
    </message>
    <message>
        <source>{} needs a time, as in {} 5 ms</source>
        <translation>{} 需要一个时间，如 {} 5 ms</translation>
    </message>
    <message>
        <source>{} {} needs a unit: ns, us, ms or s</source>
        <translation>{} {} 需要单位：ns、us、ms 或 s</translation>
    </message>
    <message>
        <source>{} is not a comparison</source>
        <translation>{} 不是比较符</translation>
    </message>
</context>
<context>
    <name>sweep</name>
    <message>
        <source>tokens/s</source>
        <translation>token/s</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>步时间</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU（因果）</translation>
    </message>
    <message>
        <source>TFLOP/s per GPU</source>
        <translation>每 GPU TFLOP/s</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>气泡</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>暴露</translation>
    </message>
    <message>
        <source>peak memory [GiB]</source>
        <translation>峰值显存 [GiB]</translation>
    </message>
    <message>
        <source>left [GiB]</source>
        <translation>剩余 [GiB]</translation>
    </message>
    <message>
        <source>left of requested [GiB]</source>
        <translation>请求量之余 [GiB]</translation>
    </message>
    <message>
        <source>{} played, {} too slow and {} too big by their bounds, {} impossible</source>
        <translation>已推演 {} 个，按界限 {} 个过慢、{} 个过大，{} 个不可行</translation>
    </message>
    <message>
        <source>, {} of schedules that the framework&apos;s software lacks</source>
        <translation>，{} 个使用框架软件不具备的调度</translation>
    </message>
    <message>
        <source>No plan of {} fits: {}.</source>
        <translation>{} 个方案均放不下：{}。</translation>
    </message>
    <message>
        <source>No plan of {} so far fits: {}.</source>
        <translation>目前 {} 个方案均放不下：{}。</translation>
    </message>
    <message>
        <source>Best of {} plans: {} tokens/s by {}. {}.</source>
        <translation>{} 个方案中最佳：{} token/s，{}。{}。</translation>
    </message>
    <message>
        <source>Best of {} plans so far: {} tokens/s by {}. {}.</source>
        <translation>目前 {} 个方案中最佳：{} token/s，{}。{}。</translation>
    </message>
    <message>
        <source> 1 other is not apart from it by the error of predictions.</source>
        <translation>另有 1 个在预测误差内与之不相上下。</translation>
    </message>
    <message>
        <source> {} others are not apart from it by the error of predictions.</source>
        <translation>另有 {} 个在预测误差内与之不相上下。</translation>
    </message>
    <message>
        <source>cannot be told</source>
        <translation>无法判断</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>impossible</source>
        <translation>不可行</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>unvalidated</source>
        <translation>未经验证</translation>
    </message>
    <message>
        <source>why not</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>as it follows</source>
        <translation>自动推导</translation>
    </message>
</context>
<context>
    <name>titles</name>
    <message>
        <source>{} and {}</source>
        <translation>{} 与 {}</translation>
    </message>
    <message>
        <source>{}, {} and {}</source>
        <translation>{}：{} 与 {}</translation>
    </message>
    <message>
        <source>{}: {} and {}</source>
        <translation>{}：{} 与 {}</translation>
    </message>
    <message>
        <source>{}, predicted and executed</source>
        <translation>{}，预测与执行</translation>
    </message>
</context>
<context>
    <name>whole run</name>
    <message>
        <source>useful work</source>
        <translation>有用的工作</translation>
    </message>
    <message>
        <source>work done again</source>
        <translation>重做的工作</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>failures not yet noticed</source>
        <translation>尚未发现的故障</translation>
    </message>
    <message>
        <source>restarts</source>
        <translation>重启</translation>
    </message>
    <message>
        <source>waiting for repairs</source>
        <translation>等待修理</translation>
    </message>
    <message>
        <source>missing replicas</source>
        <translation>缺失的副本</translation>
    </message>
    <message>
        <source>slow ranks</source>
        <translation>慢的 rank</translation>
    </message>
    <message>
        <source>planned maintenance</source>
        <translation>计划维护</translation>
    </message>
</context>
</TS>
