import type { FileDescriptor } from '@inlay/protocol'
import type {
  AnswerOutcome,
  ConversationStore,
  HistoryLimits,
  ToolCallRecord,
  TurnOpening,
  RunStore,
} from '@inlay/agent'

/** Empty stores that belong together, and their clock. */
export interface StoresUnderTest {
  readonly conversations: ConversationStore
  readonly runs: RunStore
  advance(milliseconds: number): void
}

/** Returns empty stores; called for each test. */
export type MakeStores = () => StoresUnderTest | Promise<StoresUnderTest>

export const everything: HistoryLimits = { chars: 1_000_000, withoutCallsOf: [] }

export const opening: TurnOpening = {
  session: null,
  creation: null,
  ownerId: 'ana',
  parentId: -1,
  text: 'Hello?',
  files: [],
  origin: 'api',
  models: [{ provider: 'p', name: 'n', displayName: 'N', params: { model: 'n' } }],
  history: everything,
}

export const answer: AnswerOutcome = {
  status: 'done',
  text: 'Hi.',
  reasoning: null,
  error: null,
  citations: [],
  documents: null,
  toolCalls: [],
  durationMs: 12,
}

export const call: ToolCallRecord = {
  step: 0,
  turnIndex: 0,
  tabIndex: 0,
  callId: 'c',
  actionId: 2,
  name: 'look',
  failed: false,
  arguments: { at: 1 },
  result: 'found',
  reasoning: null,
  packets: [],
  documents: null,
  images: null,
}

export const descriptor: FileDescriptor = {
  id: '11111111-1111-4111-8111-111111111111',
  type: 'plain_text',
  name: 'notes.txt',
  user_file_id: '22222222-2222-4222-8222-222222222222',
}
