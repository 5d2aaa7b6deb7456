import type { StoredSession } from '@inlay/conversations'
import { InlayError, type Principal } from '@inlay/protocol'
import { routesOf, type Route, type ServerParts } from '@inlay/server'
import * as v from 'valibot'
import { documentUrls } from './answer-lines.ts'
import { readContent } from './content.ts'
import { invalid } from './errors.ts'
import { keepRecord, keptRecord, recordsOf } from './kept-records.ts'
import { deletionOf, pageOf, pageQuery, pageSchema } from './pages.ts'
import type { OutputItem } from './response-events.ts'
import { conversationId, conversationSession } from './response-ids.ts'
import { itemsSchema, toMessages, type InputItem } from './responses-request.ts'
import { includesResults, outputItems, questionItem, responsesOf, type Context } from './stored-responses.ts'

const route = routesOf('Conversations', { scope: 'chat', owner: 'caller' })

const metadataSchema = v.pipe(
  v.record(v.pipe(v.string(), v.maxLength(64)), v.pipe(v.string(), v.maxLength(512))),
  v.check((entries) => Object.keys(entries).length <= 16, 'must not have more than 16 keys'),
)
const fields = { id: v.string(), object: v.literal('conversation'), created_at: v.number() }
const conversationSchema = v.object({ ...fields, metadata: metadataSchema })
const itemSchema = v.looseObject({ id: v.string(), type: v.string() })
const additionsSchema = v.pipe(itemsSchema, v.maxLength(20))
const path = v.object({ conversation_id: v.string() })
const itemPath = v.object({ ...path.entries, item_id: v.string() })
const answer = { description: 'The conversation.', schema: conversationSchema }

/** Sessions as conversations, which `POST /v1/responses` continues. */
export const conversationRoutes: readonly Route[] = [
  route('POST /v1/conversations', 'createConversation', 'Create a conversation', {
    description: 'A session of Inlay; messages among its items are its first ones.',
    input: { body: v.nullish(v.object({ items: v.nullish(additionsSchema), metadata: v.nullish(metadataSchema) })) },
    answer,
    errors: ['INVALID_INPUT', 'NOT_IMPLEMENTED'],
    async handle({ body, caller, parts }) {
      const texts = readTexts(body?.items ?? [])
      const { id } = await parts.agent.sessions.create({ persona_id: 0, description: null, project_id: null }, caller)
      await parts.agent.sessions.append(id, texts, caller)
      if (body?.metadata) await keepMetadata(parts, id, body.metadata, caller)
      return toConversation(parts, await parts.agent.sessions.get(id, caller), caller)
    },
  }),
  route('GET /v1/conversations/{conversation_id}', 'getConversation', 'One conversation', {
    input: { path },
    answer,
    errors: ['SESSION_NOT_FOUND'],
    handle: async ({ path: { conversation_id: id }, caller, parts }) =>
      toConversation(parts, await parts.agent.sessions.get(conversationSession(id), caller), caller),
  }),
  route('POST /v1/conversations/{conversation_id}', 'changeConversation', 'Change its metadata', {
    input: { path, body: v.object({ metadata: v.nullable(metadataSchema) }) },
    answer,
    errors: ['SESSION_NOT_FOUND', 'NOT_IMPLEMENTED'],
    async handle({ path: { conversation_id: id }, body, caller, parts }) {
      const session = await parts.agent.sessions.get(conversationSession(id), caller)
      await keepMetadata(parts, session.id, body.metadata ?? {}, caller)
      return toConversation(parts, session, caller)
    },
  }),
  route('DELETE /v1/conversations/{conversation_id}', 'deleteConversation', 'Delete a conversation', {
    description: 'Erases the session with all responses in it, unless a legal hold keeps it.',
    input: { path },
    answer: deletionOf('conversation.deleted'),
    errors: ['SESSION_NOT_FOUND', 'CONFLICT'],
    async handle({ path: { conversation_id: id }, caller, parts }) {
      await parts.agent.sessions.remove(conversationSession(id), caller, { erase: true })
      return { id, object: 'conversation.deleted' as const, deleted: true as const }
    },
  }),
  route('GET /v1/conversations/{conversation_id}/items', 'listConversationItems', 'Items of a conversation', {
    description:
      'Questions, and the items of their answers; of several answers, the one that the session goes on from.',
    input: { path, query: pageQuery },
    answer: { description: 'A page of items, the newest first.', schema: pageSchema(itemSchema) },
    errors: ['SESSION_NOT_FOUND', 'INVALID_INPUT'],
    async handle(context) {
      // Items have no time of their own: their places are their order.
      const items = (await readItems(context)).map((item, at) => ({ id: item.id, created_at: at, item }))
      const page = pageOf(items, context.query, { maxLimit: 100, usual: 20 })
      return { ...page, data: page.data.map(({ item }) => item) }
    },
  }),
  route('POST /v1/conversations/{conversation_id}/items', 'addConversationItems', 'Add items', {
    description: 'Adds messages of users and the assistant; items of tools and reasoning are not kept.',
    input: { path, body: v.object({ items: additionsSchema }) },
    answer: { description: 'The added items.', schema: pageSchema(itemSchema) },
    errors: ['SESSION_NOT_FOUND', 'INVALID_INPUT'],
    async handle(context) {
      const { path: place, body, caller, parts } = context
      const before = (await readItems(context)).length
      await parts.agent.sessions.append(conversationSession(place.conversation_id), readTexts(body.items), caller)
      const data = (await readItems(context)).slice(before)
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      return { object: 'list' as const, data, ...ends, has_more: false }
    },
  }),
  route('GET /v1/conversations/{conversation_id}/items/{item_id}', 'getConversationItem', 'One item', {
    input: { path: itemPath },
    answer: { description: 'The item.', schema: itemSchema },
    errors: ['SESSION_NOT_FOUND', 'NOT_FOUND'],
    async handle(context) {
      const item = (await readItems(context)).find(({ id }) => id === context.path.item_id)
      if (item) return item
      throw new InlayError('NOT_FOUND', { message: 'No such item in this conversation.' })
    },
  }),
  route('DELETE /v1/conversations/{conversation_id}/items/{item_id}', 'deleteConversationItem', 'Delete an item', {
    description: 'Is refused: a conversation is deleted as a whole.',
    input: { path: itemPath },
    answer,
    errors: ['INVALID_INPUT'],
    handle() {
      throw invalid('item_id', 'Items are not deleted one by one: delete the conversation, or begin another one.')
    },
  }),
]

/** Messages to keep. @throws INVALID_INPUT for what a session cannot hold */
function readTexts(items: InputItem[]): { role: 'user' | 'assistant'; text: string }[] {
  return toMessages(items).flatMap(({ role, content, tool_calls: calls }, at) => {
    if (role === 'tool' || calls) return []
    if (role !== 'user' && role !== 'assistant')
      throw invalid('items', `A conversation keeps no messages of role "${role}": send them as instructions.`)
    const { text, fileIds } = readContent(content, [], `items.${at}.content`)
    if (fileIds.length > 0)
      throw invalid(`items.${at}.content`, 'Files are not added to conversations: ask about them in a response.')
    return text.trim() === '' ? [] : [{ role, text }]
  })
}

/** The items of the branch that a session goes on from, oldest first. */
async function readItems({
  path: { conversation_id: id },
  ...context
}: Context & { readonly path: v.InferOutput<typeof path> }): Promise<OutputItem[]> {
  const session = await context.parts.agent.sessions.get(conversationSession(id), context.caller)
  const options = { urlOf: documentUrls(context), withResults: includesResults(context.url) }
  const answers = new Map(responsesOf(session).map((stored) => [stored.answer.id, stored]))
  const byId = new Map(session.messages.map((message) => [message.id, message]))
  const items: OutputItem[] = []
  for (let next = session.messages[0]?.latestChildId; next; next = byId.get(next)?.latestChildId) {
    const [message, stored] = [byId.get(next), answers.get(next)]
    if (stored) items.push(...outputItems(stored, options))
    else if (message) items.push(questionItem(session.id, message))
  }
  return items
}

const keepMetadata = (parts: ServerParts, sessionId: string, metadata: Record<string, string>, { id }: Principal) =>
  keepRecord(recordsOf(parts), 'conversation', { value: { sessionId, metadata }, owner: id })

async function toConversation({ workspace }: ServerParts, { id, timeCreated }: StoredSession, caller: Principal) {
  const record = workspace && (await keptRecord(workspace, 'conversation', { key: id, owner: caller.id }))
  const metadata = { ...record?.value.metadata }
  const createdAt = Math.floor(Date.parse(timeCreated) / 1000)
  return { id: conversationId(id), object: 'conversation' as const, created_at: createdAt, metadata }
}
