// Made by `python -m tests.web.message_types` from the structs in codec/. Changes belong there.

export namespace Console {
  export interface Hello {
    type: "hello";
    at: number;
    interval: number;
    version: string;
    pid: number;
    started: number;
    totals: Totals;
    systems: System[];
    nodes: Node[];
    history: Record<string, number[]>;
    stops: StopNote[];
    dead: DeadNote[];
    crashes: StopNote[];
    departures: StopNote[];
  }
  export interface Totals {
    actors: number;
    handled: number;
    rate: number;
    restarts: number;
    dead_letters: number;
    dropped: number;
    lag: number;
    memory: number;
    crashes: number;
    trouble: number;
  }
  export interface System {
    name: string;
    state: "down" | "failing" | "off" | "paused" | "starting" | "up";
    sentence: string;
    url: string | null;
    lately: string | null;
  }
  export interface Node {
    path: string;
    parent: string | null;
    name: string;
    kind: "actor" | "supervisor";
    state: "backoff" | "paused" | "running" | "starting" | "stopped" | "stopping";
    since: number;
    restarts: number;
    queued: number;
    capacity: number;
    handled: number;
    rate: number;
    dropped: number;
    error: string | null;
    note: string | null;
    dynamic: boolean;
    folded: number;
    called: string | null;
    inside: number;
    crashes: number;
    restarted: number | null;
    lately: "crashed" | "restarted" | null;
    trouble: string | null;
  }
  export interface StopNote {
    at: number;
    path: string;
    why: string;
    error: string | null;
    message: string | null;
    restarts: boolean;
    called: string | null;
  }
  export interface DeadNote {
    at: number;
    path: string;
    message: string;
    why: string;
  }
  export interface Change {
    type: "change";
    at: number;
    totals: Totals;
    systems: System[] | null;
    nodes: Node[];
    gone: string[];
    stops: StopNote[];
    dead: DeadNote[];
    crashes: StopNote[];
    departures: StopNote[];
  }
  export type Message = Hello | Change;
}

export namespace Judge {
  export interface StateInit {
    type: "state/init";
    problem?: ShownProblem | null;
    settings: RunSettings;
    results?: RunResult[];
    summary?: Summary | null;
    running?: Running | null;
    interrupted?: boolean;
    last?: LastRun | null;
    commands?: Commands;
  }
  export interface ShownProblem {
    name: string;
    group: string;
    url: string;
    interactive: boolean;
    timeLimit: number;
    contestId: string;
    taskId: string;
    testsDir: string;
    cases: Case[];
    id: string;
    memoryLimit?: number | null;
    testType?: "multiNumber" | "single";
    input?: Stdin | File | Regex;
    output?: Stdout | File;
    mainPath?: string | null;
    unsupported?: string | null;
    batch?: Batch | null;
    gone?: boolean;
    trouble?: string | null;
  }
  export interface Case {
    index: number;
    inputPath: string;
    outputPath: string;
    inputContent: string;
    expectedContent: string;
    inputSize: number;
    expectedSize: number;
    inputCut?: boolean;
    expectedCut?: boolean;
    version?: string;
  }
  export interface Stdin {
    type: "stdin";
  }
  export interface File {
    type: "file";
    fileName: string;
  }
  export interface Regex {
    type: "regex";
    pattern: string;
  }
  export interface Stdout {
    type: "stdout";
  }
  export interface Batch {
    id: string;
    size: number;
  }
  export interface RunSettings {
    interpreter: "cpython" | "pypy";
    pythonCommand: string;
    pypyCommand: string;
    runCwdMode: "task" | "workspace";
    timeoutMs: number | null;
    memoryLimitMb: number | null;
    jobs: number | null;
    compare: Compare;
  }
  export interface Compare {
    mode: "exact" | "float" | "tokens" | "trim";
    caseSensitive: boolean;
    tolerance: number;
  }
  export interface RunResult {
    index: number;
    status: "fail" | "pass" | "re" | "timeout";
    durationMs: number;
    actual: string;
    console: string;
    diffSummary?: string | null;
    verdict: "AC" | "CE" | "IE" | "MLE" | "OLE" | "RE" | "TLE" | "WA";
    reason?: string | null;
    cpuMs?: number | null;
    memoryKb?: number | null;
    contended?: boolean;
    exitCode?: number | null;
    signal?: number | null;
    actualSize: number;
    actualCut?: boolean;
    run?: number | null;
    outdated?: ("interpreter" | "settings" | "solution" | "test")[];
  }
  export interface Summary {
    total: number;
    passed: number;
    failed: number;
    timeouts: number;
    res: number;
    durationMs: number;
  }
  export interface Running {
    scope: "all" | "one";
    currentIndex?: number | null;
    run?: number | null;
    indices?: number[] | null;
  }
  export interface LastRun {
    run: number;
    indices: number[];
    cancelled?: boolean;
  }
  export interface Commands {
    pythonCommand: string[];
    pypyCommand: string[];
  }
  export interface StateUpdate {
    type: "state/update";
    problem: ShownProblem;
    outdated?: Outdated[];
  }
  export interface Outdated {
    index: number;
    reasons: ("interpreter" | "settings" | "solution" | "test")[];
  }
  export interface StateProblems {
    type: "state/problems";
    problems: Listed[];
    current?: string | null;
  }
  export interface Listed {
    id: string;
    name: string;
    group: string;
    contestId: string;
    taskId: string;
    url: string;
    cases?: number | null;
    standing?: Standing | null;
    batch?: Batch | null;
  }
  export interface Standing {
    passed: number;
    failed: number;
  }
  export interface StateProblemsChanged {
    type: "state/problemsChanged";
    gone?: string[];
    problems?: Listed[];
    current?: string | null;
  }
  export interface StateCase {
    type: "state/case";
    problemId?: string | null;
    case: Case;
    result?: RunResult | null;
  }
  export interface StateArrived {
    type: "state/arrived";
    problem: Listed;
  }
  export interface RunProgress {
    type: "run/progress";
    scope: "all" | "one";
    running: boolean;
    currentIndex?: number | null;
    problemId?: string | null;
    run?: number | null;
    indices?: number[] | null;
  }
  export interface RunReport {
    type: "run/result";
    scope: "all" | "one";
    result: RunResult;
    problemId?: string | null;
  }
  export interface RunComplete {
    type: "run/complete";
    scope: "all" | "one";
    summary: Summary;
    problemId?: string | null;
    cancelled?: boolean;
    run?: number | null;
  }
  export interface Notice {
    type: "notice";
    level: "error" | "info" | "warn";
    message: string;
  }
  export interface RunOne {
    type: "ui/runOne";
    index: number;
    problemId?: string | null;
  }
  export interface RunAll {
    type: "ui/runAll";
    indices?: number[] | null;
    problemId?: string | null;
  }
  export interface SwitchInterpreter {
    type: "ui/switchInterpreter";
    interpreter: "cpython" | "pypy";
  }
  export interface RequestInit {
    type: "ui/requestInit";
    problemId?: string | null;
    follow?: boolean;
  }
  export interface Cancel {
    type: "ui/cancel";
    problemId?: string | null;
  }
  export interface UpdateSettings {
    type: "ui/updateSettings";
    settings: Record<string, any>;
  }
  export interface OpenProblem {
    type: "ui/openProblem";
    id: string;
  }
  export interface RequestCase {
    type: "ui/requestCase";
    index: number;
    problemId?: string | null;
  }
  export interface Look {
    type: "ui/look";
  }
  export interface Forget {
    type: "ui/forget";
    id: string;
  }
  export type Message = StateInit | StateUpdate | StateProblems | StateProblemsChanged | StateCase | StateArrived | RunProgress | RunReport | RunComplete | Notice;
  export type UiMessage = RunOne | RunAll | SwitchInterpreter | RequestInit | Cancel | UpdateSettings | OpenProblem | RequestCase | Look | Forget;
}

export namespace Desk {
  export interface Window {
    type: "window";
    first: number;
    total: number;
    rows: RequestFact[];
  }
  export interface RequestFact {
    id: string;
    command: string;
    state: "cancelled" | "gave up" | "polling" | "retrying" | "success" | "waiting";
    created: number;
    changed: number;
    attempts?: number;
    seconds?: number | null;
    submitter?: string;
    priority?: number;
    message?: string;
  }
  export interface RequestDetail {
    type: "detail";
    fact: RequestFact;
    params?: any;
    reference?: string | null;
    tried?: Attempt[];
    notes?: string[];
    not_before?: number | null;
    deadline?: number | null;
    made_way?: boolean;
    evaluation?: any;
  }
  export interface Attempt {
    number: number;
    began: number;
    ended?: number | null;
    seconds?: number | null;
    outcome?: Success | Failure | null;
    late?: boolean;
  }
  export interface Success {
    type: "success";
    data: any;
  }
  export interface Failure {
    type: "error";
    message: string;
    permanent: boolean;
  }
  export interface DetailGone {
    type: "gone";
    id: string;
  }
  export interface DeskTotals {
    type: "totals";
    by_state: Record<string, number>;
    oldest?: number | null;
    running?: number;
    lost?: number;
    quarantined?: number;
    failed?: number;
    base?: string;
    trouble?: string;
    down?: string;
    watched?: boolean;
    events?: number;
    overflows?: number;
    rescans?: number;
    sync_ms?: number;
    peer?: string;
    editor?: string;
    editor_order?: "" | "start" | "stop";
    peer_alive?: boolean;
    reasons?: string[];
    withheld?: number;
    withheld_reasons?: string[];
    filling?: boolean;
  }
  export interface DeskNotice {
    type: "notice";
    level: "error" | "info" | "warn";
    text: string;
  }
  export interface WindowWanted {
    type: "window";
    first: number;
    count: number;
    states: ("cancelled" | "gave up" | "polling" | "retrying" | "success" | "waiting")[];
    text: string;
    order: "attempts" | "newest" | "oldest" | "slowest";
    at: string;
    above: number;
  }
  export interface DetailWanted {
    type: "detail";
    id: string;
  }
  export interface Selection {
    ids: string[];
    all: boolean;
    match: string;
    older_than: number | null;
  }
  export interface Handled {
    ids: string[];
    refused: Record<string, string>;
  }
  export type Message = Window | RequestDetail | DetailGone | DeskTotals | DeskNotice;
  export type UiMessage = WindowWanted | DetailWanted;
}

export namespace Board {
  export interface ButtonSpawn {
    text: string;
    parent?: string | null;
  }
  export interface CanvasSpawn {
    width: number;
    height: number;
    parent?: string | null;
  }
  export interface ColumnSpawn {
    parent?: string | null;
  }
  export interface ConsoleSpawn {
    showInput: boolean;
    text?: string | null;
    parent?: string | null;
  }
  export interface GridSpawn {
    numColumns: number;
    numRows: number;
    parent?: string | null;
  }
  export interface LabelSpawn {
    text: string;
    parent?: string | null;
  }
  export interface MarkdownSpawn {
    initialSource: string;
    parent?: string | null;
  }
  export interface RowSpawn {
    parent?: string | null;
  }
  export interface TextboxSpawn {
    initialValue?: string | null;
    placeholder?: string | null;
    parent?: string | null;
  }
  export interface VizSpawn {
    parent?: string | null;
  }
  export interface SetText {
    action: "setText";
    options: Text;
  }
  export interface Text {
    text: string;
  }
  export interface ChangeParent {
    action: "changeParent";
    options: NewParent;
  }
  export interface NewParent {
    parent: string;
    insertBefore?: string | null;
  }
  export interface ClearCanvas {
    action: "clear";
    options: OnBuffer;
  }
  export interface OnBuffer {
    bufferId?: number | null;
  }
  export interface DrawLine {
    action: "drawLine";
    options: Segment;
  }
  export interface Segment {
    x1: number;
    y1: number;
    x2: number;
    y2: number;
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
  }
  export interface DrawRect {
    action: "drawRect";
    options: Rect;
  }
  export interface Rect {
    x: number;
    y: number;
    width: number;
    height: number;
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
    fillColor?: string | null;
  }
  export interface DrawCircle {
    action: "drawCircle";
    options: Circle;
  }
  export interface Circle {
    cx: number;
    cy: number;
    radius: number;
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
    fillColor?: string | null;
  }
  export interface DrawPolyline {
    action: "drawPolyline";
    options: Polyline;
  }
  export interface Polyline {
    points: Point[];
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
  }
  export interface Point {
    x: number;
    y: number;
  }
  export interface DrawPolygon {
    action: "drawPolygon";
    options: Polygon;
  }
  export interface Polygon {
    points: Point[];
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
    fillColor?: string | null;
  }
  export interface DrawEllipse {
    action: "drawEllipse";
    options: Ellipse;
  }
  export interface Ellipse {
    cx: number;
    cy: number;
    radiusX: number;
    radiusY: number;
    bufferId?: number | null;
    lineColor?: string | null;
    lineWidth?: number | null;
    fillColor?: string | null;
  }
  export interface DrawText {
    action: "drawText";
    options: Lettering;
  }
  export interface Lettering {
    x: number;
    y: number;
    text: string;
    textColor?: string | null;
    textSize?: number | null;
    bufferId?: number | null;
  }
  export interface CreateBuffer {
    action: "createBuffer";
    options: Buffer;
  }
  export interface Buffer {
    bufferId: number;
  }
  export interface DrawBuffer {
    action: "drawBuffer";
    options: BufferCopy;
  }
  export interface BufferCopy {
    sourceBufferId: number;
    targetBufferId: number;
  }
  export interface DestroyBuffer {
    action: "destroyBuffer";
    options: Buffer;
  }
  export interface AppendText {
    action: "append";
    options: Text;
  }
  export interface ClearConsole {
    action: "clear";
    options?: any;
  }
  export interface SetColor {
    action: "setColor";
    options: CellColor;
  }
  export interface CellColor {
    x: number;
    y: number;
    color: string | null;
  }
  export interface SetCellText {
    action: "setText";
    options: CellText;
  }
  export interface CellText {
    x: number;
    y: number;
    text: string | null;
  }
  export interface ClearCell {
    action: "clearCell";
    options: Cell;
  }
  export interface Cell {
    x: number;
    y: number;
  }
  export interface ClearGrid {
    action: "clear";
    options?: any;
  }
  export interface SetSource {
    action: "setSource";
    options: Source;
  }
  export interface Source {
    source: string;
  }
  export interface SetValue {
    action: "setValue";
    options: Value;
  }
  export interface Value {
    value: string;
  }
  export interface SetPlaceholder {
    action: "setPlaceholder";
    options: Placeholder;
  }
  export interface Placeholder {
    placeholder: string;
  }
  export interface Click {
    event: "click";
  }
  export interface ClickAt {
    event: "click";
    x: number;
    y: number;
  }
  export interface Submit {
    event: "submit";
    value: string;
  }
  export interface VizChange {
    action: string;
    variableName: string;
    options: VizOptions;
  }
  export interface VizOptions {
    path?: any[] | null;
    valueRepresentation?: Record<string, any> | null;
    keyRepresentation?: Record<string, any> | null;
    length?: number | null;
  }
  export interface FaultPayload {
    message: string;
  }
  export interface AnnouncePayload {
    peerId: string;
    role: "hero" | "sidekick";
    status: "offline" | "online";
    version: string;
    timestamp: number;
  }
  export interface BoardState {
    scripts: number;
    drawnAt: number | null;
    showing?: boolean;
  }
  export interface Remove { id?: number; component: string; type: "remove"; target: string }
  export interface Fault { id?: number; component: string; type: "error"; src?: string; payload?: FaultPayload }
  export interface Announce { id?: number; component: "system"; type: "announce"; payload: AnnouncePayload }
  export interface ClearAll { id?: number; component: "global"; type: "clearAll" }
  export interface BoardState { id?: number; component: "board"; type: "state"; payload: State }
  export interface Follow { id?: number; component: "board"; type: "follow" }
  export interface Clear { id?: number; component: "board"; type: "clear" }
  export type Spawn =
    | { id?: number; component: "button"; type: "spawn"; target: string; payload: ButtonSpawn }
    | { id?: number; component: "canvas"; type: "spawn"; target: string; payload: CanvasSpawn }
    | { id?: number; component: "column"; type: "spawn"; target: string; payload: ColumnSpawn }
    | { id?: number; component: "console"; type: "spawn"; target: string; payload: ConsoleSpawn }
    | { id?: number; component: "grid"; type: "spawn"; target: string; payload: GridSpawn }
    | { id?: number; component: "label"; type: "spawn"; target: string; payload: LabelSpawn }
    | { id?: number; component: "markdown"; type: "spawn"; target: string; payload: MarkdownSpawn }
    | { id?: number; component: "row"; type: "spawn"; target: string; payload: RowSpawn }
    | { id?: number; component: "textbox"; type: "spawn"; target: string; payload: TextboxSpawn }
    | { id?: number; component: "viz"; type: "spawn"; target: string; payload: VizSpawn };
  export type Update =
    | { id?: number; component: "button"; type: "update"; target: string; payload: SetText | ChangeParent }
    | { id?: number; component: "canvas"; type: "update"; target: string; payload: ClearCanvas | DrawLine | DrawRect | DrawCircle | DrawPolyline | DrawPolygon | DrawEllipse | DrawText | CreateBuffer | DrawBuffer | DestroyBuffer | ChangeParent }
    | { id?: number; component: "column"; type: "update"; target: string; payload: ChangeParent }
    | { id?: number; component: "console"; type: "update"; target: string; payload: AppendText | ClearConsole | ChangeParent }
    | { id?: number; component: "grid"; type: "update"; target: string; payload: SetColor | SetCellText | ClearCell | ClearGrid | ChangeParent }
    | { id?: number; component: "label"; type: "update"; target: string; payload: SetText | ChangeParent }
    | { id?: number; component: "markdown"; type: "update"; target: string; payload: SetSource | ChangeParent }
    | { id?: number; component: "row"; type: "update"; target: string; payload: ChangeParent }
    | { id?: number; component: "textbox"; type: "update"; target: string; payload: SetValue | SetPlaceholder | ChangeParent }
    | { id?: number; component: "viz"; type: "update"; target: string; payload: ChangeParent | VizChange };
  export type Event =
    | { id?: number; component: "button"; type: "event"; src: string; payload: Click }
    | { id?: number; component: "canvas"; type: "event"; src: string; payload: ClickAt }
    | { id?: number; component: "console"; type: "event"; src: string; payload: Submit }
    | { id?: number; component: "grid"; type: "event"; src: string; payload: ClickAt }
    | { id?: number; component: "textbox"; type: "event"; src: string; payload: Submit };
  export type Message = Spawn | Update | Remove | Fault | Announce | ClearAll | BoardState;
  export type UiMessage = Event | Announce | Follow | Clear;
}

export namespace Agent {
  export interface UserMessage {
    type: "user.message";
    seq?: number;
    message: string;
    message_id: string;
    turn_id: string;
    context: EditorContext;
    by: string;
    steers: boolean;
    at: number;
  }
  export interface EditorContext {
    active_editor: ActiveEditor | null;
    open_editors: OpenEditor[];
    diagnostics: Diagnostic[];
    terminal_output: TerminalOutput | null;
    git_context: GitContext | null;
    mentions: Mention[];
    command: string | null;
  }
  export interface ActiveEditor {
    file_path: string;
    language?: string | null;
    selection?: TextSelection | null;
    visible_range?: VisibleRange | null;
    content_hash?: string | null;
  }
  export interface TextSelection {
    start: TextPosition;
    end: TextPosition;
    text?: string | null;
  }
  export interface TextPosition {
    line: number;
    character?: number;
  }
  export interface VisibleRange {
    start: number;
    end: number;
  }
  export interface OpenEditor {
    file_path: string;
    is_dirty?: boolean;
    visible?: boolean;
  }
  export interface Diagnostic {
    file_path: string;
    message: string;
    severity?: "error" | "hint" | "info" | "information" | "unknown" | "warning";
    line?: number;
    character?: number;
    source?: string | null;
    code?: any;
  }
  export interface TerminalOutput {
    command?: string;
    exit_code?: number | null;
    stdout?: string;
    stderr?: string;
    timestamp?: string | null;
  }
  export interface GitContext {
    branch?: string | null;
    staged_files?: string[];
    modified_files?: string[];
    recent_commits?: RecentCommit[];
    diff?: string | null;
  }
  export interface RecentCommit {
    sha: string;
    message?: string;
    author?: string;
    timestamp?: string | null;
  }
  export interface Mention {
    type: string;
    path?: string | null;
    name?: string | null;
    file_path?: string | null;
    line?: number | null;
  }
  export interface Thinking {
    type: "assistant.thinking";
    seq?: number;
    phase: "analyzing" | "executing" | "planning" | "retrieving";
    message: string;
    until: number;
  }
  export interface PlanPresented {
    type: "agent.plan";
    seq?: number;
    steps: PlanStep[];
    rationale: string;
    current_step: number;
  }
  export interface PlanStep {
    step_number: number;
    description: string;
    files_involved: string[];
  }
  export interface RetrieveStatus {
    type: "agent.retrieve.status";
    seq?: number;
    stage: "reranking" | "symbol_search" | "text_search" | "vector_search";
    results_count: number;
    message: string;
    items: ContextItem[];
  }
  export interface ContextItem {
    source: string;
    score: number;
    reason: string;
    tokens: number;
  }
  export interface ToolExecute {
    type: "tool.execute";
    seq?: number;
    tool_name: string;
    args: any;
    status: "completed" | "failed" | "started";
    call_id: string;
    result: any;
  }
  export interface Token {
    type: "assistant.token";
    seq?: number;
    token: string;
    cumulative_text?: string;
  }
  export interface MessageFinal {
    type: "assistant.message_final";
    seq?: number;
    message: string;
    metadata: FinalMetadata;
  }
  export interface FinalMetadata {
    success: boolean;
    tokens_used: number;
    files_modified: number;
    tools_used: string[];
    cancelled: boolean;
    interrupted: boolean;
    turn_id: string;
    seconds: number;
  }
  export interface ServerError {
    type: "server.error";
    seq?: number;
    error: ErrorBody;
  }
  export interface ErrorBody {
    code: "BUSY" | "CANCELLED" | "FILE_MODIFIED" | "INTERNAL" | "INVALID_MESSAGE" | "MODEL_ERROR" | "POLICY_VIOLATION" | "RETRIEVAL_FAILED" | "SESSION_NOT_FOUND" | "UNAUTHORIZED" | "VERSION_MISMATCH" | "WORKSPACE_NOT_FOUND";
    message: string;
    details: Record<string, any>;
    recoverable: boolean;
  }
  export interface ContextUsage {
    type: "context.usage";
    seq?: number;
    used: number;
    window: number;
  }
  export interface ContextCompacted {
    type: "context.compacted";
    seq?: number;
    summary: string;
    upto: number;
  }
  export interface ModelChanged {
    type: "model.changed";
    seq?: number;
    model: ModelNow;
  }
  export interface ModelNow {
    provider: string;
    model_name: string;
    capabilities: string[];
  }
  export interface PatchProposed {
    type: "patch.proposed";
    seq?: number;
    patch_id: string;
    file_path: string;
    diff: string;
    rationale: string;
    acceptance_criteria: string[];
    requires_approval: boolean;
    hunks: DiffHunk[];
    request_id: string;
    base_hash: string | null;
    call_id: string;
    action: "create" | "delete" | "modify";
    reason: string;
  }
  export interface DiffHunk {
    old_start: number;
    old_lines: number;
    new_start: number;
    new_lines: number;
    content: string;
  }
  export interface RequestApproval {
    type: "tool.request_approval";
    seq?: number;
    request_id: string;
    tool_name: string;
    args: any;
    risk_level: "high" | "low" | "medium";
    call_id: string;
    reason: string;
    message: string;
  }
  export interface RequestCommandApproval {
    type: "command.request_approval";
    seq?: number;
    command_id: string;
    command: string;
    working_directory: string;
    environment: Record<string, string>;
    requires_approval: boolean;
    reason: string;
    request_id: string;
    call_id: string;
    risk_level: "high" | "low" | "medium";
    execution_mode: "local_terminal" | "server_runner";
    network: boolean;
    may_remember: string[];
    may_remember_exactly: boolean;
    runs: ScriptLine[];
    message: string;
  }
  export interface ScriptLine {
    file: string;
    name: string;
    text: string;
  }
  export interface ApprovalResolved {
    type: "approval.resolved";
    seq?: number;
    request_id: string;
    approved: boolean;
    scope: "all" | "file" | "hunk";
    by: string;
    reason: string | null;
    hunks: number[] | null;
    remember: "once" | "session" | "workspace";
    exactly: boolean;
    ended: "answered" | "cancelled" | "timed_out";
  }
  export interface PatchApplied {
    type: "patch.applied";
    seq?: number;
    patch_id: string;
    file_path: string;
    success: boolean;
    by: "client" | "server";
    hunks: HunkOutcome[];
    applied_hash: string | null;
    error: string | null;
  }
  export interface HunkOutcome {
    index: number;
    outcome: "already" | "applied" | "loose" | "merged" | "moved" | "refused" | "rejected";
    line: number | null;
    reason: string;
  }
  export interface FileChanged {
    type: "file.changed";
    seq?: number;
    change_id: string;
    turn_id: string;
    file_path: string;
    action: "create" | "delete" | "modify";
    status: "begun" | "done" | "failed" | "unknown";
    before: string | null;
    after: string | null;
    before_hash: string | null;
    after_hash: string | null;
    mode: number | null;
    folders: string[];
    patch_id: string | null;
    error: string | null;
  }
  export interface CommandStarted {
    type: "command.started";
    seq?: number;
    command_id: string;
    command: string;
    working_directory: string;
    environment: Record<string, string>;
    network: boolean;
    turn_id: string;
    call_id: string;
  }
  export interface CommandTakenBack {
    type: "command.taken_back";
    seq?: number;
    command_id: string;
    run_here: boolean;
    by: string;
  }
  export interface CommandOutput {
    type: "command.output";
    seq?: number;
    command_id: string;
    stream: "stderr" | "stdout";
    text: string;
  }
  export interface CommandFinished {
    type: "command.finished";
    seq?: number;
    command_id: string;
    exit_code: number | null;
    ended: "cancelled" | "exited" | "interrupted" | "not_started" | "signalled" | "stopped";
    why: string;
    duration_ms: number;
    by: "client" | "server";
  }
  export interface TurnUndone {
    type: "turn.undone";
    seq?: number;
    turn_id: string;
    redo: boolean;
    files: UndoneFile[];
    by: string;
    begun: boolean;
  }
  export interface UndoneFile {
    file_path: string;
    action: "create" | "delete" | "restore";
    outcome: "done" | "refused" | "unchanged" | "would";
    reason: string;
    diff: string;
  }
  export interface ModeChanged {
    type: "mode.changed";
    seq?: number;
    mode: "ask" | "auto" | "plan";
    before: "ask" | "auto" | "plan";
    by: string;
  }
  export interface PolicyAudited {
    type: "policy.changed";
    seq?: number;
    at: number;
    by: string;
    change: PolicyChange;
    before: Policy;
  }
  export interface PolicyChange {
    allowed_read_globs?: string[];
    allowed_write_globs?: string[];
    blocked_globs?: string[];
    command_approval?: "always" | "never" | "prompt";
    allowed_commands?: string[];
    blocked_commands?: string[];
    network_enabled?: boolean;
    auto_approve_simple_changes?: boolean;
    auto_approve_tests?: boolean;
    auto_approve_tools?: string[];
    execution_mode?: "local_terminal" | "server_runner";
    patch_application?: "client" | "server";
    approval_timeout_s?: number;
  }
  export interface Policy {
    allowed_read_globs: string[];
    allowed_write_globs: string[];
    blocked_globs: string[];
    command_approval: "always" | "never" | "prompt";
    allowed_commands: string[];
    blocked_commands: string[];
    network_enabled: boolean;
    auto_approve_simple_changes: boolean;
    auto_approve_tests: boolean;
    auto_approve_tools: string[];
    execution_mode: "local_terminal" | "server_runner";
    patch_application: "client" | "server";
    approval_timeout_s: number;
  }
  export interface ApprovalRemembered {
    type: "approval.remembered";
    seq?: number;
    at: number;
    by: string;
    approval: Remembered;
  }
  export interface Remembered {
    id: string;
    kind: "command" | "path" | "tool";
    argv?: string[];
    exactly?: ExactCommand | null;
    path?: string | null;
    tool_name?: string | null;
    by?: string;
    at?: number;
    scope?: "session" | "workspace";
  }
  export interface ExactCommand {
    line?: string;
    argv?: string[];
    folder?: string;
  }
  export interface ApprovalForgotten {
    type: "approval.forgotten";
    seq?: number;
    at: number;
    by: string;
    approval: Remembered;
  }
  export interface ServerHello {
    type: "server.hello";
    server_info: ServerInfo;
    session_id: string;
    last_seq: number;
  }
  export interface ServerInfo {
    version: string;
    model: ModelNow;
    capabilities: string[];
    protocol_version: string;
  }
  export interface ServerPong {
    type: "server.pong";
    timestamp: any;
  }
  export interface SessionStateNow {
    type: "session.state";
    state: SessionState;
    last_seq: number;
  }
  export interface SessionState {
    pending_patches: string[];
    applied_patches: string[];
    pending_approvals: string[];
    requests: RequestShown[];
    suspended: boolean;
    current_step: number;
    total_steps: number;
    running: boolean;
    turn_id: string | null;
    queued: QueuedMessage[];
    mode: "ask" | "auto" | "plan";
    model: ModelNow | null;
    title: string | null;
    context_used: number;
    context_window: number;
    clients: number;
    trouble: string | null;
  }
  export interface RequestShown {
    request_id: string;
    kind: "command" | "patch" | "tool";
    seq: number;
    file_path: string | null;
    expires_at: number;
  }
  export interface QueuedMessage {
    message_id: string;
    message: string;
    delivery: "queue" | "steer";
  }
  export interface ClientHello {
    type: "client.hello";
    client_info?: ClientInfo;
    resume_from?: number | null;
    cancel_on_disconnect?: boolean;
    protocol_version?: string | null;
  }
  export interface ClientInfo {
    name?: string;
    version?: string;
    capabilities?: string[];
  }
  export interface UserSays {
    type: "client.user_message";
    message: string;
    context?: SaidContext;
    delivery?: "queue" | "steer";
    message_id?: string | null;
  }
  export interface SaidContext {
    active_editor?: ActiveEditor | null;
    open_editors?: OpenEditor[] | null;
    diagnostics?: Diagnostic[] | null;
    terminal_output?: TerminalOutput | null;
    git_context?: GitContext | null;
    mentions?: Mention[] | null;
    command?: string | null;
  }
  export interface ContextUpdate {
    type: "client.context_update";
    updates?: ContextChange;
  }
  export interface ContextChange {
    active_editor?: ActiveEditor | null;
    open_editors?: OpenEditor[] | null;
    diagnostics?: Diagnostic[] | null;
    terminal_output?: TerminalOutput | null;
    git_context?: GitContext | null;
    mentions?: Mention[] | null;
  }
  export interface ApprovalResponse {
    type: "client.approval_response";
    request_id: string;
    approved: boolean;
    scope?: "all" | "file" | "hunk";
    file_path?: string | null;
    hunks?: number[] | null;
    remember?: "once" | "session" | "workspace";
    exactly?: boolean;
    reason?: string | null;
  }
  export interface PatchApplyResult {
    type: "client.patch_apply_result";
    patch_id: string;
    success: boolean;
    file_path?: string;
    error?: PatchError | string | null;
    applied_hash?: string | null;
  }
  export interface PatchError {
    message?: string;
    type?: string | null;
  }
  export interface CommandResult {
    type: "client.command_result";
    command_id: string;
    command?: string;
    exit_code?: number | null;
    stdout?: string;
    stderr?: string;
    duration_ms?: number;
  }
  export interface TakeBackCommand {
    type: "client.take_back_command";
    command_id: string;
    run_here?: boolean;
  }
  export interface ApprovePlan {
    type: "client.approve_plan";
    plan_seq: number;
    steps?: ApprovedStep[] | null;
    mode?: "ask" | "auto";
    message_id?: string | null;
  }
  export interface ApprovedStep {
    description: string;
    files_involved?: string[];
  }
  export interface CancelTurn {
    type: "client.cancel";
    reason?: string;
  }
  export interface Withdraw {
    type: "client.withdraw";
    message_id: string;
  }
  export interface FileChanges {
    type: "client.file_changes";
    changes?: FileChange[];
  }
  export interface FileChange {
    type: "created" | "deleted" | "modified";
    file_path: string;
    content_hash?: string | null;
    timestamp?: string | null;
  }
  export interface ClientPing {
    type: "client.ping";
    timestamp?: any;
  }
  export interface WorkspaceWish {
    path: string;
    name?: string | null;
    module_id?: string;
    auto_index?: boolean;
    auto_watch?: boolean;
    use_polling?: boolean;
  }
  export interface IndexChanges {
    changes?: FileChange[];
  }
  export interface SessionWish {
    workspace_id: string;
    folder_id?: string | null;
    agent_id?: string | null;
    title?: string | null;
    model_provider?: string | null;
    model_name?: string | null;
    model_url?: string | null;
    context_window?: number | null;
    temperature?: number | null;
    mode?: "ask" | "auto" | "plan";
  }
  export interface SessionChange {
    title?: string;
    mode?: "ask" | "auto" | "plan";
    model_provider?: string | null;
    model_name?: string | null;
    model_url?: string | null;
    context_window?: number | null;
  }
  export interface UndoWish {
    turn_id?: string | null;
    preview?: boolean;
  }
  export interface ModelConfig {
    provider: "builtin" | "llamacpp" | "ollama" | "openai" | "vllm";
    model_name?: string;
    url?: string;
    context_window?: number;
    temperature?: number;
    display_name?: string | null;
  }
  export interface AgentHealth {
    status: "healthy";
    version: string;
    protocol_version: string;
  }
  export interface WorkspaceFact {
    id: string;
    path: string;
    name: string;
    created_at: string;
    last_indexed_at: string | null;
    index_status: "failed" | "indexing" | "pending" | "ready";
    index_progress: number;
    total_files: number;
    indexed_files: number;
    total_chunks: number;
    missing: boolean;
    auto_index: boolean;
    auto_watch: boolean;
    use_polling: boolean;
  }
  export interface RememberedList {
    approvals: Remembered[];
  }
  export interface Deleted {
    success: boolean;
  }
  export interface IndexStatus {
    workspace_id: string;
    index_status: "failed" | "indexing" | "pending" | "ready";
    index_progress: number;
    total_files: number;
    indexed_files: number;
    total_chunks: number;
    last_indexed_at: string | null;
    generation: number;
    errors: string[];
    mode: "full" | "text_only";
    total_symbols: number;
    watching: "events" | "off" | "polling";
    message: string;
  }
  export interface IndexRun {
    success: boolean;
    workspace_id: string;
    module_id: string;
    stats: Record<string, number>;
    message: string;
  }
  export interface WatchState {
    success: boolean;
    workspace_id: string;
    watching: boolean;
    message: string;
  }
  export interface SearchResults {
    query: string;
    results: SearchResult[];
    words: string[];
    stages: StageCount[];
    generation: number;
    complete: boolean;
    milliseconds: number;
    message: string;
  }
  export interface SearchResult {
    path: string;
    first_line: number;
    last_line: number;
    score: number;
    symbol: string;
    kind: string;
    reasons: Reason[];
    lines: FoundLine[];
  }
  export interface Reason {
    stage: "reranking" | "symbol_search" | "text_search" | "vector_search";
    said: string;
    score: number;
  }
  export interface FoundLine {
    number: number;
    text: string;
  }
  export interface StageCount {
    stage: "reranking" | "symbol_search" | "text_search" | "vector_search";
    count: number;
  }
  export interface SessionFact {
    id: string;
    workspace_id: string;
    created_at: string;
    updated_at: string;
    status: "active" | "cancelled" | "completed" | "error";
    folder_id: string | null;
    agent_id: string | null;
    title: string | null;
    model_provider: string | null;
    model_name: string | null;
    model_url: string | null;
    context_window: number | null;
    temperature: number | null;
    mode: "ask" | "auto" | "plan";
    running: boolean;
    pending_approvals: number;
  }
  export interface UndoReport {
    turn_id: string | null;
    redo: boolean;
    preview: boolean;
    files: UndoneFile[];
    message: string;
  }
  export interface TranscriptMessage {
    id: string;
    role: "assistant" | "tool" | "user";
    content: string;
    seq: number;
    created_at: string | null;
    cancelled: boolean;
    interrupted: boolean;
  }
  export interface EventPage {
    events: (UserMessage | Thinking | PlanPresented | RetrieveStatus | ToolExecute | Token | MessageFinal | ServerError | ContextUsage | ContextCompacted | ModelChanged | PatchProposed | RequestApproval | RequestCommandApproval | ApprovalResolved | PatchApplied | FileChanged | CommandStarted | CommandTakenBack | CommandOutput | CommandFinished | TurnUndone | ModeChanged | PolicyAudited | ApprovalRemembered | ApprovalForgotten)[];
    after: number;
    more: boolean;
  }
  export interface ModelList {
    models: ModelFact[];
    unreachable: string[];
  }
  export interface ModelFact {
    id: string;
    provider: "builtin" | "llamacpp" | "ollama" | "openai" | "vllm";
    url: string;
    display_name: string | null;
    context_window: number | null;
    capabilities: string[];
  }
  export interface ModelSwitch {
    success: boolean;
    old_model: string | null;
    new_model: string;
    message: string;
  }
  export interface StreamTicket {
    ticket: string;
    expires_in: number;
  }
  export interface Detail {
    detail: string;
    code: string;
    where: any;
  }
  export type Message = UserMessage | Thinking | PlanPresented | RetrieveStatus | ToolExecute | Token | MessageFinal | ServerError | ContextUsage | ContextCompacted | ModelChanged | PatchProposed | RequestApproval | RequestCommandApproval | ApprovalResolved | PatchApplied | FileChanged | CommandStarted | CommandTakenBack | CommandOutput | CommandFinished | TurnUndone | ModeChanged | PolicyAudited | ApprovalRemembered | ApprovalForgotten | ServerHello | ServerPong | SessionStateNow;
  export type UiMessage = ClientHello | UserSays | ContextUpdate | ApprovalResponse | PatchApplyResult | CommandResult | TakeBackCommand | ApprovePlan | CancelTurn | Withdraw | FileChanges | ClientPing;
}
