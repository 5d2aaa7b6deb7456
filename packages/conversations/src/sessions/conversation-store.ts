import {
  placeMessage,
  terminatedText,
  toMainline,
  toPath,
  type BranchHistory,
  type ConversationStore,
  type OpenedTurn,
  type Services,
  type TreeNode,
  type TurnOpening,
} from '@inlay/agent'
import { InlayError, storable } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import { createSharedTransactions, type SharedTransactions } from '@inlay/records'
import type { ChatSessionCreationRequest } from '@inlay/protocol'
import { sql, type Insertable, type Transaction } from 'kysely'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { MessageTable, SessionTable } from '../tables/chat-tables.ts'
import { readBranch, readPast } from './branch-history.ts'
import { readGeneratedFileIds } from './generated-files.ts'
import type { Naming } from './naming.ts'
import { pinnedModel } from './settings.ts'
import { storeSendKey } from './send-key-records.ts'
import { addText, indexText, maxSearchedCharacters } from './search-index.ts'
import { lockSession } from './session-access.ts'
import { finishAnswer, touchSession } from './store-answer.ts'

type Records = Transaction<ConversationTables>

/** Conversations of the engine on SQL, over the tables of `migrateConversations`. */
export function createConversationStore(
  db: ConversationDatabase,
  { now, newId }: Pick<Services, 'now' | 'newId'>,
  naming?: Pick<Naming, 'afterAnswer'>,
): ConversationStore {
  const writes = createSharedTransactions(db)
  return {
    session: async (id, ownerId) => {
      const row = await db
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
        .where('id', '=', id)
        .executeTakeFirst()
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
    finish: (answerId, outcome) => writes.run((records) => finishAnswer(records, answerId, outcome, now())),
    ...livenessOf(db, writes, now),
    branch: async (sessionId, messageId, limits) => {
      const nodes = await readTree(db, sessionId)
      const ids = messageId === null ? toMainline(nodes) : toPath(nodes, messageId)
      return readBranch(db, ids.slice(1), limits)
    },
    saveSummary: async ({ sessionId, messageId, text }) => {
      await db.transaction().execute(async (records) => {
        if (!(await lockSession(records, sessionId))) return
        await records
          .insertInto('inlay_chat_summaries')
          .values({ message_id: messageId, session_id: sessionId, text: storable(text), created_at: now() })
          // Two answers of one question may end at once.
          .onConflict((conflict) => conflict.column('message_id').doNothing())
          .execute()
      })
    },
    ...(naming && { nameSession: naming.afterAnswer }),
    generatedFileIds: (messageIds) => readGeneratedFileIds(db, messageIds),
  }
}

/** Checks whether the process of a running answer is alive. */
function livenessOf(
  db: ConversationDatabase,
  writes: SharedTransactions<ConversationTables>,
  now: () => number,
): Pick<ConversationStore, 'checkpoint' | 'terminateAbandoned'> {
  return {
    checkpoint: async (answers) => {
      if (answers.length === 0) return
      await writes.run(async (records) => {
        for (const { answerId, text } of answers) {
          await records
            .updateTable('inlay_chat_messages')
            .set({ text: storable(text), seen_at: now() })
            .where('id', '=', answerId)
            .where('status', '=', 'running')
            .execute()
        }
      })
    },
    terminateAbandoned: async (leaseMs) => {
      const time = now()
      await db.transaction().execute((records) => terminate(records, time - leaseMs))
      const next = await db
        .selectFrom('inlay_chat_messages')
        .select(({ fn }) => fn.min('seen_at').as('seen'))
        .where('status', '=', 'running')
        .executeTakeFirst()
      const seen = next?.seen ?? null
      return seen === null ? undefined : Math.max(0, Number(seen) + leaseMs - time)
    },
  }
}

async function terminate(records: Records, seenBefore: number): Promise<void> {
  const answers = await records
    .updateTable('inlay_chat_messages')
    .set({ status: 'terminated', error: terminatedText, error_code: 'SERVICE_UNAVAILABLE', seen_at: null })
    .where('status', '=', 'running')
    .where('seen_at', '<=', seenBefore)
    .returning('id')
    .execute()
  for (const { id } of answers) {
    const row = await records
      .selectFrom('inlay_chat_messages as message')
      .innerJoin('inlay_chat_sessions as session', 'session.id', 'message.session_id')
      .select(['message.session_id as sessionId', 'session.owner_id as ownerId'])
      .select(sql<string>`substr(message.text, 1, ${sql.lit(maxSearchedCharacters)})`.as('text'))
      .where('message.id', '=', id)
      .executeTakeFirst()
    if (row) await indexText(records, { ...row, messageId: id })
  }
}

const noHistory: BranchHistory = { summary: null, summaryFiles: [], messages: [] }

/** More characters are written by themselves: SQLite writes on this thread. */
const longText = 65_536

async function openTurn(
  records: Records,
  opening: TurnOpening,
  time: number,
  newId: () => string,
): Promise<OpenedTurn> {
  const { creation, ownerId } = opening
  const session = opening.session ?? newSession(newId(), ownerId, creation, time)
  if (opening.session) {
    const locked = await lockSession(records, session.id)
    if (!locked || locked.isDeleted) throw new InlayError('SESSION_NOT_FOUND')
  }
  if ('created_at' in session) {
    await records.insertInto('inlay_chat_sessions').values(session).execute()
    await addText(records, { sessionId: session.id, ownerId, text: session.name })
  }
  const nodes = opening.session ? await readTree(records, session.id) : []
  // The hidden first message of the tree.
  const rootId = nodes[0]?.id ?? (await addMessage(records, session.id, null, time, { role: 'system' }))
  if (nodes.length === 0) nodes.push({ id: rootId, parentId: null, latestChildId: null, role: 'system' })
  const { parent, isRepeat, before } = placeMessage(nodes, opening.parentId)

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
        seen_at: time,
        model_provider: model.provider,
        model_name: model.name,
        model_display_name: model.displayName,
        request_params: JSON.stringify(model.params),
      }),
    )
  }
  await pointAlong(records, nodes, [rootId, ...before, userMessageId, answerIds[0] ?? userMessageId])
  if (opening.text.length > longText) await yieldToEventLoop()
  await touchSession(records, session.id, opening.ownerId, time)
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

/** A session as it is stored when it is made. */
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

/** The tree of a session, oldest message first. */
export async function readTree(records: ConversationDatabase, sessionId: string): Promise<TreeNode[]> {
  const rows = await records
    .selectFrom('inlay_chat_messages')
    .select(['id', 'parent_id', 'latest_child_id', 'role'])
    .where('session_id', '=', sessionId)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    parentId: row.parent_id,
    latestChildId: row.latest_child_id,
    role: row.role,
  }))
}

type MessageFields = Partial<Omit<Insertable<MessageTable>, 'id'>>

async function addMessage(
  records: Records,
  sessionId: string,
  parentId: number | null,
  time: number,
  fields: MessageFields,
): Promise<number> {
  const row = await records
    .insertInto('inlay_chat_messages')
    .values({
      session_id: sessionId,
      parent_id: parentId,
      created_at: time,
      role: 'user',
      status: 'done',
      text: '',
      ...fields,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if ((fields.text?.length ?? 0) > longText) await yieldToEventLoop()
  return row.id
}

/** Makes a branch the mainline: each of its messages points to the next. */
async function pointAlong(records: Records, nodes: readonly TreeNode[], line: readonly number[]): Promise<void> {
  const known = new Map(nodes.map((node) => [node.id, node.latestChildId]))
  for (const [index, id] of line.entries()) {
    const child = line[index + 1]
    if (child === undefined || known.get(id) === child) continue
    await records.updateTable('inlay_chat_messages').set({ latest_child_id: child }).where('id', '=', id).execute()
  }
}
