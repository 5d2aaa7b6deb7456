import {
  createFold,
  type Block,
  type ChatSessionDetail,
  type Fold,
  type SearchDoc,
  type StreamLine,
  type ToolApproval,
} from '@inlay/protocol'

export interface SentFile {
  readonly id: string
  readonly name: string
}

export interface Question {
  readonly question: string
  readonly files: readonly SentFile[]
  /** What the person decided about the calls of the answer before, if it is that. */
  readonly decision?: Decision | undefined
}

/** What a person decided about the calls of an answer that wait. */
export interface Decision {
  readonly answerId: number
  readonly approvals: readonly ToolApproval[]
}

/** Why there is no complete answer. */
export interface Failure {
  readonly message: string
  /** Whether a retry may succeed. */
  readonly retryable: boolean
  /** How long the service asks to wait before a retry, in seconds. */
  readonly waitSeconds?: number
}

/** Messages of failures that no service reports, and the name of a file without one. */
export interface ConversationTexts {
  readonly connectionEnded: string
  readonly neverAnswered: string
  readonly file: string
}

/** A question and everything that is known of its answer so far. A new object with every change; the fold stays one. */
export interface Turn {
  readonly id: number
  readonly question: string
  readonly files: readonly SentFile[]
  readonly decision?: Decision | undefined
  readonly phase: 'answering' | 'finished' | 'stopped' | 'failed'
  /** The session it belongs to, once one exists. */
  readonly sessionId: string | null
  readonly fold: Fold
  readonly failure: Failure | null
  /** Whether the answer waits for the connection to come back. */
  readonly isDisconnected: boolean
  /** Ids of the versions of the question, and of the answers to this version; one each until something was done again. */
  readonly versions: Versions
  readonly feedback: Feedback
  /** Name of the model that answered; null until it is known. */
  readonly modelName: string | null
  /**
   * Answers of several models side by side, in the order they were asked; null where one model answers, and once one of
   * the answers is kept. The fold of the first is that of the turn.
   */
  readonly columns: readonly Turn[] | null
}

export type Feedback = 'like' | 'dislike' | null

export interface FeedbackReason {
  /** One of the reasons that were offered. */
  readonly offered?: string
  readonly text?: string
}

/** Ids of the alternative questions at one position of the conversation, and of their answers, oldest first. */
export interface Versions {
  readonly questions: readonly number[]
  readonly answers: readonly number[]
}

const noVersions: Versions = { questions: [], answers: [] }

export function newTurn(id: number, { question, files, decision }: Question, sessionId: string | null): Turn {
  return {
    id,
    question,
    files,
    decision,
    phase: 'answering',
    sessionId,
    fold: createFold(),
    failure: null,
    isDisconnected: false,
    versions: noVersions,
    feedback: null,
    modelName: null,
    columns: null,
  }
}

/** Whether a message is the question or the answer of a turn. */
export function hasMessage({ fold, columns }: Turn, messageId: number): boolean {
  const ids = [
    fold.state.userMessageId,
    ...[fold, ...(columns ?? []).map((column) => column.fold)].map(({ state }) => state.messageId),
  ]
  return ids.includes(messageId)
}

export function withLines(turn: Turn, lines: readonly StreamLine[]): Turn {
  const columns = turn.columns ?? columnsOf(turn, lines)
  if (columns === null) return withOwnLines(turn, lines)
  return withColumns(
    turn,
    columns.map((column) => withOwnLines(column, lines)),
  )
}

/** The columns of an answer, once its lines show that several models answer. */
function columnsOf(turn: Turn, lines: readonly StreamLine[]): readonly Turn[] | null {
  const line = lines.find((each) => 'responses' in each)
  if (line === undefined || line.responses.length < 2) return null
  return line.responses.map(({ model_name: modelName }, modelIndex) => ({
    ...turn,
    modelName,
    ...(modelIndex > 0 && { fold: createFold({ modelIndex }) }),
  }))
}

/** Derives the state of the turn from its columns: it runs until all have ended, and fails only if all fail. */
export function withColumns(turn: Turn, columns: readonly Turn[]): Turn {
  const phases = columns.map(({ phase }) => phase)
  const phase = phases.includes('answering')
    ? 'answering'
    : phases.includes('stopped')
      ? 'stopped'
      : phases.includes('finished')
        ? 'finished'
        : 'failed'
  return { ...turn, columns, phase, sessionId: columns[0]?.sessionId ?? turn.sessionId }
}

/** The column to continue with if none was selected: the first with a complete answer, else the first. */
export function usualColumn(columns: readonly Turn[] | null | undefined): Turn | undefined {
  return columns?.find(({ phase, fold }) => phase !== 'failed' && fold.answer !== '') ?? columns?.[0]
}

/** The turn with the selected answer, which continues the conversation. */
export function keptColumn(turn: Turn, column: Turn | undefined): Turn {
  return column === undefined ? turn : { ...column, id: turn.id, columns: null }
}

function withOwnLines(turn: Turn, lines: readonly StreamLine[]): Turn {
  for (const line of lines) turn.fold.add(line)
  const { state } = turn.fold
  const known = { ...turn, sessionId: state.chatSessionId ?? turn.sessionId }
  if (state.phase === 'done') return { ...known, phase: 'finished' }
  if (state.phase === 'stopped') return { ...known, phase: 'stopped' }
  if (state.errorLine === null) return known
  return failed(known, { message: state.errorLine.error, retryable: state.errorLine.is_retryable })
}

/** The turn after a failure; the text so far is kept. */
export function failed(turn: Turn, failure: Failure): Turn {
  if (turn.columns !== null)
    return withColumns(
      turn,
      turn.columns.map((column) => (column.phase === 'answering' ? failed(column, failure) : column)),
    )
  return { ...turn, phase: 'failed', failure }
}

/** The turn after its stream has ended, with or without a final line. */
export function ended(turn: Turn, { connectionEnded: message }: Pick<ConversationTexts, 'connectionEnded'>): Turn {
  return turn.phase === 'answering' ? failed(turn, { message, retryable: true }) : turn
}

export function withConnection(turn: Turn, isConnected: boolean): Turn {
  const columns = turn.columns?.map((column) => withConnection(column, isConnected)) ?? null
  return { ...turn, columns, isDisconnected: !isConnected }
}

export function withFailures(turn: Turn, { messages }: Pick<ChatSessionDetail, 'messages'>): Turn {
  const answer = messages.find(({ message_id: id }) => id === turn.fold.state.messageId)
  turn.fold.addFailures(answer?.failed_calls ?? [])
  return { ...turn }
}

/** The turn after the user stopped it; the text so far is kept. */
export function stopped(turn: Turn): Turn {
  if (turn.columns !== null) return withColumns(turn, turn.columns.map(stopped))
  return turn.phase === 'answering' ? { ...turn, phase: 'stopped' } : turn
}

/**
 * The steps that led to the answer, in order: all blocks except the text of the answer. Research agents run in parallel;
 * the steps of each follow it.
 */
export function stepsOf(turn: Turn): readonly Block[] {
  const { blocks } = turn.fold.state
  const answer = blocks.findLast((block) => block.kind === 'text' && block.placement.sub_turn_index === null)
  const steps = blocks.filter((block) => block !== answer)
  const agentOf = (step: Block): Block | undefined =>
    step.placement.sub_turn_index === null
      ? undefined
      : steps.find((candidate) => candidate.kind === 'research' && isAtPlace(candidate, step.placement))
  return steps.flatMap((step) => {
    if (step.kind === 'research') return [step, ...steps.filter((candidate) => agentOf(candidate) === step)]
    return agentOf(step) === undefined ? [step] : []
  })
}

const isAtPlace = ({ placement }: Block, { turn_index: turn, tab_index: tab }: Block['placement']): boolean =>
  placement.turn_index === turn && placement.tab_index === tab

/** A document as the source list shows it: all its found passages together. */
export interface Source {
  readonly documentId: string
  /** Its number in the answer; null when the answer does not cite it. */
  readonly number: number | null
  /** The found passages of the document, best first; at least one. */
  readonly passages: readonly [SearchDoc, ...SearchDoc[]]
}

/**
 * Sources of a turn: the cited ones by number, then those that were only found, in rank order. Found is what the steps
 * show, so that both name the same number.
 */
export function sourcesOf(turn: Turn): { cited: readonly Source[]; uncited: readonly Source[] } {
  const { state } = turn.fold
  const numberOf = new Map(state.citations.map((citation) => [citation.document_id, citation.citation_number]))
  const byDocument = new Map<string, [SearchDoc, ...SearchDoc[]]>()
  const shown = shownDocuments(state.blocks)
  // Until the answer begins, there are only those that its steps have shown.
  for (const document of [...state.documents, ...shown]) {
    const passages = byDocument.get(document.document_id)
    if (passages === undefined) byDocument.set(document.document_id, [document])
    else if (!passages.some((known) => known.chunk_ind === document.chunk_ind)) passages.push(document)
  }
  const sources = [...byDocument].map(([documentId, passages]): Source => ({
    documentId,
    number: numberOf.get(documentId) ?? null,
    passages,
  }))
  const cited = sources.filter((source) => source.number !== null)
  const inSteps = new Set(shown.map((document) => document.document_id))
  return {
    cited: cited.sort((left, right) => (left.number ?? 0) - (right.number ?? 0)),
    uncited: sources.filter(
      ({ number, documentId }) => number === null && (inSteps.size === 0 || inSteps.has(documentId)),
    ),
  }
}

export function shownDocuments(blocks: readonly Block[]): readonly SearchDoc[] {
  return blocks.flatMap((block) =>
    block.kind === 'tool' ? (block.documents ?? []) : block.kind === 'research' ? (block.citedDocuments ?? []) : [],
  )
}
