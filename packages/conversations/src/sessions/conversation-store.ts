import {
  placeMessage,
  toMainline,
  toPath,
  type BranchHistory,
  type ConversationStore,
  type OpenedTurn,
  type Services,
  type TreeNode,
  type TurnOpening,
} from '@inlay/agent'
import { InlayError, storable, type ChatSessionCreationRequest } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import { createSharedTransactions, prepared, type RecordEvents } from '@inlay/records'
import { sql, type Insertable, type Transaction } from 'kysely'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { MessageTable, SessionTable } from '../tables/chat-tables.ts'
import { readBranch, readPast } from './branch-history.ts'
import { readGeneratedFileIds } from './generated-files.ts'
import type { Naming } from './naming.ts'
import type { Sessions } from './stored-session.ts'
import { pinnedModel } from './settings.ts'
import { storeSendKey } from './send-key-records.ts'
import { addText } from './search-index.ts'
import { lockSession } from './session-access.ts'
import { finishAnswer, timeInFront, toMove, touchSession, type Move } from './store-answer.ts'

type Records = Transaction<ConversationTables>

/** Conversations of the engine on SQL, over the tables of `migrateConversations`. */
export function createConversationStore(
  db: ConversationDatabase,
  { now, newId, recordEvents }: Pick<Services, 'now' | 'newId'> & { readonly recordEvents?: RecordEvents | undefined },
  naming?: Pick<Naming, 'firstName' | 'onNamed' | 'afterAnswer'>,
): ConversationStore {
  const writes = createSharedTransactions(db)
  return {
    session: async (id, ownerId) => {
      const [row] = await sessionWithFiles(db, { id })
      if (!row || row.deleted_at !== null || row.owner_id !== ownerId) throw new InlayError('SESSION_NOT_FOUND')
      return {
        id: row.id,
        ownerId: row.owner_id,
        personaId: row.persona_id,
        projectId: row.project_id,
        modelOverride: pinnedModel(row),
        temperature: row.temperature,
        reasoningEffort: row.reasoning_effort,
        hasFiles: Boolean(row.has_files),
      }
    },
    open: (opening) => writes.run((records) => openTurn(records, opening, now(), newId)),
    finish: async (answerId, outcome) => {
      const nameOf = naming?.firstName
      const named = await writes.run((records) =>
        finishAnswer(records, answerId, outcome, { time: now(), nameOf, recordEvents }),
      )
      if (named) naming?.onNamed(named.sessionId, named.name)
    },
    cancelWaiting: (sessionId) =>
      writes.run(async (records) => {
        if (!(await lockSession(records, sessionId))) return
        const [last = 0] = toMainline(await readTree(records, sessionId)).slice(-1)
        const requests = records.selectFrom('inlay_chat_tool_calls').select('id').where('message_id', '=', last)
        await records
          .updateTable('inlay_chat_messages')
          // Their lines end with the stop that readers see.
          .set({
            status: 'cancelled',
            lines: sql`replace(lines, '"stop_reason":null', '"stop_reason":"user_cancelled"')`,
          })
          .where('id', '=', last)
          .where('status', '=', 'done')
          .where(({ exists }) => exists(requests.where('packets', 'like', '%"type":"tool_approval_request"%')))
          .execute()
      }),
    running: async () => {
      const rows = await runningAnswers(db, {})
      return rows
        .toSorted((a, b) => a.id - b.id)
        .map(({ id, session_id: sessionId, parent_id: parentId, created_at: openedAt }) => {
          return { sessionId, answerId: id, parentId, openedAt: Number(openedAt) }
        })
    },
    branch: async (sessionId, messageId, limits) => {
      const nodes = await readTree(db, sessionId)
      const ids = messageId === null ? toMainline(nodes) : toPath(nodes, messageId)
      return readBranch(db, ids.slice(1), limits)
    },
    saveSummary: ({ sessionId, messageId, text }) =>
      db.transaction().execute(async (records) => {
        if (!(await lockSession(records, sessionId))) return
        await records
          .insertInto('inlay_chat_summaries')
          .values({ message_id: messageId, session_id: sessionId, text: storable(text), created_at: now() })
          // Two answers of one question may end at once.
          .onConflict((conflict) => conflict.column('message_id').doNothing())
          .execute()
      }),
    ...(naming && { nameSession: naming.afterAnswer }),
    generatedFileIds: (messageIds) => readGeneratedFileIds(db, messageIds),
  }
}

/** Without an order, for which SQLite would read the table instead of the index of running answers. */
const runningAnswers = prepared((db: ConversationDatabase) =>
  db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'session_id', 'parent_id', 'created_at'])
    .where('status', '=', 'running'),
)

const sessionWithFiles = prepared((db: ConversationDatabase, { id }: { readonly id: string }) =>
  db
    .selectFrom('inlay_chat_sessions')
    .selectAll()
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('inlay_chat_messages')
          .select('inlay_chat_messages.id')
          .whereRef('inlay_chat_messages.session_id', '=', 'inlay_chat_sessions.id')
          .where('inlay_chat_messages.files', 'is not', null),
      ).as('has_files'),
    )
    .where('id', '=', id),
)

const noHistory: BranchHistory = { summary: null, summaryFiles: [], messages: [] }

/** More characters are written by themselves: SQLite writes on this thread. */
const longText = 65_536

/** The id that a new session shall have, unless there is one, of whomever. */
async function freeId(records: Records, { newSessionId }: TurnOpening, newId: () => string): Promise<string> {
  if (newSessionId === undefined) return newId()
  const sessions = records.selectFrom('inlay_chat_sessions').select('id').where('id', '=', newSessionId)
  return (await sessions.executeTakeFirst()) ? newId() : newSessionId
}

async function openTurn(
  records: Records,
  opening: TurnOpening,
  time: number,
  newId: () => string,
): Promise<OpenedTurn> {
  const { creation, ownerId } = opening
  const session = opening.session ?? newSession(await freeId(records, opening, newId), ownerId, creation, time)
  if (opening.session) {
    const locked = await lockSession(records, session.id)
    if (!locked || locked.isDeleted) throw new InlayError('SESSION_NOT_FOUND')
  }
  if ('created_at' in session) await addSession(records, session)
  const { nodes, rootId } = await treeWithRoot(records, session.id, time)
  const { parent, isRepeat, before } = placeMessage(nodes, opening.parentId)
  if (opening.decides && !(await isWaiting(records, nodes, parent.id)))
    throw new InlayError('CONFLICT', { message: 'The chat went on before these calls were approved.' })

  const userMessageId = isRepeat
    ? parent.id
    : await addMessage(records, session.id, parent.id, time, {
        role: 'user',
        text: opening.text,
        origin: opening.origin,
        files: opening.files.length === 0 ? null : JSON.stringify(opening.files),
      })
  if (!isRepeat)
    await addText(records, { sessionId: session.id, ownerId, messageId: userMessageId, text: opening.text })
  const answerIds: number[] = []
  for (const model of opening.models) {
    answerIds.push(
      await addMessage(records, session.id, userMessageId, time, {
        role: 'assistant',
        status: 'running',
        model_provider: model.provider,
        model_name: model.name,
        model_display_name: model.displayName,
        request_params: JSON.stringify(model.params),
      }),
    )
  }
  await pointAlong(records, nodes, [rootId, ...before, userMessageId, answerIds[0] ?? userMessageId])
  if (opening.text.length > longText) await yieldToEventLoop()
  if (opening.session) await touchSession(records, session.id, opening.ownerId, time)
  if (opening.key) {
    const openedSession = opening.session === null
    const messageId = answerIds[0] ?? 0
    await storeSendKey(records, opening.ownerId, opening.key, { sessionId: session.id, messageId, openedSession, time })
  }

  const branch = before.length === 0 ? noHistory : await readBranch(records, before, opening.history)
  const question = isRepeat
    ? (await readPast(records, [parent.id], { chars: 1, withoutCallsOf: [] })).at(-1)
    : undefined
  return {
    ...branch,
    sessionId: session.id,
    isNewSession: opening.session === null,
    userMessageId,
    userText: question?.text ?? opening.text,
    files: question?.files ?? opening.files,
    answerIds,
  }
}

/** The tree of a session; an empty one gets its hidden first message. */
async function treeWithRoot(records: Records, sessionId: string, time: number) {
  const nodes = await readTree(records, sessionId)
  const rootId = nodes[0]?.id ?? (await addMessage(records, sessionId, null, time, { role: 'system' }))
  if (nodes.length === 0) nodes.push({ id: rootId, parentId: null, latestChildId: null, role: 'system' })
  return { nodes, rootId }
}

/** Adds messages to the mainline. SESSION_NOT_FOUND for a session that is not the owner's. */
export async function appendMessages(
  records: Records,
  [id, messages, { id: ownerId }]: Parameters<Sessions['append']>,
  time: number,
): Promise<void> {
  const session = await lockSession(records, id)
  if (!session || session.isDeleted || session.ownerId !== ownerId) throw new InlayError('SESSION_NOT_FOUND')
  const { nodes } = await treeWithRoot(records, id, time)
  const line = toMainline(nodes)
  for (const { role, text } of messages) {
    const messageId = await addMessage(records, id, line.at(-1) ?? null, time, { role, text: storable(text) })
    await addText(records, { sessionId: id, ownerId, messageId, text })
    line.push(messageId)
  }
  await pointAlong(records, nodes, line)
  await touchSession(records, id, ownerId, time)
}

/** Whether an answer is the last of its chat, and nobody stopped it. */
async function isWaiting(records: Records, nodes: readonly TreeNode[], id: number): Promise<boolean> {
  const row = records.selectFrom('inlay_chat_messages').select('status').where('id', '=', id)
  return toMainline(nodes).at(-1) === id && (await row.executeTakeFirst())?.status === 'done'
}

/** Stores a new session as the first of its owner's listing. */
export async function addSession(records: ConversationDatabase, session: Insertable<SessionTable>): Promise<void> {
  const { id, owner_id: ownerId, created_at: time } = session
  await insertSession(records, { ...session, ...toMove(id, ownerId, time) })
  await addText(records, { sessionId: id, ownerId, text: session.name })
}

const insertSession = prepared((db: ConversationDatabase, session: Insertable<SessionTable> & Move) =>
  db.insertInto('inlay_chat_sessions').values({
    id: session.id,
    owner_id: session.owner_id,
    name: session.name,
    persona_id: session.persona_id,
    project_id: session.project_id,
    created_at: session.created_at,
    updated_at: timeInFront(db, session),
    deleted_at: session.deleted_at,
    is_public: session.is_public,
    model_override: session.model_override,
    temperature: session.temperature,
    alternate_model: session.alternate_model,
    reasoning_effort: session.reasoning_effort,
  }),
)

export function newSession(
  id: string,
  ownerId: string,
  creation: ChatSessionCreationRequest | null,
  time: number,
): Insertable<SessionTable> {
  return {
    id,
    owner_id: ownerId,
    name: creation?.description ?? '',
    persona_id: creation?.persona_id ?? 0,
    project_id: creation?.project_id ?? null,
    created_at: time,
    updated_at: time,
    deleted_at: null,
    is_public: 0,
    model_override: null,
    temperature: null,
    alternate_model: null,
    reasoning_effort: null,
  }
}

const nodesOf = prepared((db: ConversationDatabase, { sessionId }: { readonly sessionId: string }) =>
  db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'parent_id', 'latest_child_id', 'role'])
    .where('session_id', '=', sessionId)
    .orderBy('id'),
)

/** The tree of a session, oldest message first. */
export async function readTree(records: ConversationDatabase, sessionId: string): Promise<TreeNode[]> {
  const rows = await nodesOf(records, { sessionId })
  return rows.map((row) => ({
    id: row.id,
    parentId: row.parent_id,
    latestChildId: row.latest_child_id,
    role: row.role,
  }))
}

const newMessage = {
  role: 'user',
  status: 'done',
  text: '',
  origin: null,
  files: null,
  model_provider: null,
  model_name: null,
  model_display_name: null,
  request_params: null,
} as const satisfies Partial<Insertable<MessageTable>>

type MessageFields = Partial<Pick<Insertable<MessageTable>, keyof typeof newMessage>>
type NewMessage = Required<MessageFields> & Pick<Insertable<MessageTable>, 'session_id' | 'parent_id' | 'created_at'>

const messageColumns = [...Object.keys(newMessage), 'session_id', 'parent_id', 'created_at'] as (keyof NewMessage)[]

const insertMessage = prepared((db: ConversationDatabase, message: NewMessage) =>
  db
    .insertInto('inlay_chat_messages')
    // All of them are there.
    .values(Object.fromEntries(messageColumns.map((column) => [column, message[column]])) as NewMessage)
    .returning('id'),
)

async function addMessage(
  records: Records,
  sessionId: string,
  parentId: number | null,
  time: number,
  fields: MessageFields,
): Promise<number> {
  const [row] = await insertMessage(records, {
    ...newMessage,
    session_id: sessionId,
    parent_id: parentId,
    created_at: time,
    ...fields,
  })
  if (!row) throw new Error('A message that was stored has no id.')
  if ((fields.text?.length ?? 0) > longText) await yieldToEventLoop()
  return row.id
}

/** Makes a branch the mainline: each of its messages points to the next. */
async function pointAlong(records: Records, nodes: readonly TreeNode[], line: readonly number[]): Promise<void> {
  const known = new Map(nodes.map((node) => [node.id, node.latestChildId]))
  const changed = line.flatMap((id, index) => {
    const child = line[index + 1]
    return child === undefined || known.get(id) === child ? [] : [{ id, child }]
  })
  for (const each of changed) await point(records, each)
}

const point = prepared((db: ConversationDatabase, { id, child }: { readonly id: number; readonly child: number }) =>
  db.updateTable('inlay_chat_messages').set({ latest_child_id: child }).where('id', '=', id),
)
