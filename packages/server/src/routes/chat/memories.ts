import type { Memory } from '@inlay/agent'
import type { Personalization } from '@inlay/conversations'
import {
  memoryItemSchema,
  memoryTextSchema,
  personalizationSchema,
  personalizationUpdateSchema,
  queryInteger,
  type MemoryItem,
  type PersonalizationDetail,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Personalization', { scope: 'chat', owner: 'caller' })
const memoryPath = v.object({ memory_id: queryInteger({}) })

export const memoryRoutes: readonly Route[] = [
  route('GET /user/personalization', 'getPersonalization', 'Get personal settings and memories', {
    description: 'Same as in `GET /me`. Shared by all keys of one owner.',
    answer: { description: 'The settings and the memories.', schema: personalizationSchema },
    handle: async ({ caller, parts }) => toPersonalization(await parts.agent.memories.get(caller)),
  }),
  route('PATCH /user/personalization', 'updatePersonalization', 'Change personal settings and memories', {
    description:
      'Absent and null fields stay unchanged. With `use_memories` false, memories are not sent to ' +
      'the model; with `enable_memory_tool` false, it cannot store any. `memories` replaces the ' +
      'whole list: entries with a known id are edited, entries without an id are added, all others ' +
      'are deleted.',
    input: { body: personalizationUpdateSchema },
    answer: { description: 'The settings and the memories.', schema: personalizationSchema },
    errors: ['INVALID_INPUT', 'CONFLICT', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ body, caller, parts }) {
      const changes = {
        name: body.name ?? undefined,
        role: body.role ?? undefined,
        preferences: body.user_preferences ?? undefined,
        usesMemories: body.use_memories ?? undefined,
        keepsMemories: body.enable_memory_tool ?? undefined,
        memories: body.memories ?? undefined,
      }
      return toPersonalization(await parts.agent.memories.update(changes, caller))
    },
  }),
  route('GET /user/memories', 'listMemories', 'List memories', {
    description: 'Memories about the caller, newest first.',
    answer: { description: 'The memories.', schema: v.array(memoryItemSchema) },
    handle: async ({ caller, parts }) => toMemoryItems(await parts.agent.memories.get(caller)),
  }),
  route('POST /user/memories', 'addMemory', 'Add a memory', {
    description: '1 to 500 characters; at most a hundred memories.',
    input: { body: memoryTextSchema },
    answer: { description: 'The memory.', schema: memoryItemSchema },
    errors: ['INVALID_INPUT', 'DEPLOYMENT_UNSUPPORTED'],
    handle: async ({ body, caller, parts }) => toMemoryItem(await parts.agent.memories.add(body.content, caller)),
  }),
  route('DELETE /user/memories', 'forgetMemories', 'Forget all memories', {
    answer: { description: 'The memories are deleted.', status: 204 },
    errors: ['CONFLICT', 'DEPLOYMENT_UNSUPPORTED'],
    handle: ({ caller, parts }) => parts.agent.memories.clear(caller),
  }),
  route('PATCH /user/memories/{memory_id}', 'updateMemory', 'Change a memory', {
    input: { path: memoryPath, body: memoryTextSchema },
    answer: { description: 'The memory.', schema: memoryItemSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ path, body, caller, parts }) {
      return toMemoryItem(await parts.agent.memories.edit(path.memory_id, body.content, caller))
    },
  }),
  route('DELETE /user/memories/{memory_id}', 'deleteMemory', 'Forget a memory', {
    input: { path: memoryPath },
    answer: { description: 'It is gone.', status: 204 },
    errors: ['NOT_FOUND', 'CONFLICT', 'DEPLOYMENT_UNSUPPORTED'],
    handle: ({ path, caller, parts }) => parts.agent.memories.remove(path.memory_id, caller),
  }),
]

export function toPersonalization(known: Personalization): PersonalizationDetail {
  return {
    name: known.name,
    role: known.role,
    use_memories: known.usesMemories,
    enable_memory_tool: known.keepsMemories,
    memories: toMemoryItems(known),
    user_preferences: known.preferences,
  }
}

/** Newest first, as clients display them. */
function toMemoryItems({ memories }: Personalization): MemoryItem[] {
  return memories.map(toMemoryItem).toReversed()
}

function toMemoryItem({ id, content }: Memory): MemoryItem {
  return { id, content }
}
