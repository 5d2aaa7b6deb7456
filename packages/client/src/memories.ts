import {
  type MemoryItem,
  memoryItemSchema,
  type PersonalizationDetail,
  personalizationSchema,
  type PersonalizationUpdate,
} from '@inlay/protocol'
import { type CallOptions, read, readList, submit } from './call.ts'
import type { Transport } from './transport.ts'

/** Memories about the caller, and personal settings. */
export interface MemoriesClient {
  /** Name, role, preferences, switches and memories. */
  settings(options?: CallOptions): Promise<PersonalizationDetail>
  /** Absent fields stay unchanged; `memories` replaces the whole list. @throws INVALID_INPUT */
  change(change: Partial<PersonalizationUpdate>, options?: CallOptions): Promise<PersonalizationDetail>
  /** Newest first. */
  list(options?: CallOptions): Promise<readonly MemoryItem[]>
  /** @throws INVALID_INPUT, DEPLOYMENT_UNSUPPORTED if memories are disabled */
  add(content: string, options?: CallOptions): Promise<MemoryItem>
  /** @throws NOT_FOUND, INVALID_INPUT */
  edit(memoryId: number, content: string, options?: CallOptions): Promise<MemoryItem>
  /** @throws NOT_FOUND */
  remove(memoryId: number, options?: CallOptions): Promise<void>
  removeAll(options?: CallOptions): Promise<void>
}

export function createMemoriesClient(transport: Transport): MemoriesClient {
  const { send } = transport
  return {
    settings: ({ signal } = {}) => read(personalizationSchema, send('/user/personalization', { signal })),
    change: (change, { signal } = {}) =>
      read(personalizationSchema, send('/user/personalization', { method: 'PATCH', json: change, signal })),
    list: ({ signal } = {}) => readList(memoryItemSchema, send('/user/memories', { signal })),
    add: (content, { signal } = {}) =>
      read(memoryItemSchema, send('/user/memories', { method: 'POST', json: { content }, signal })),
    edit: (memoryId, content, { signal } = {}) =>
      read(memoryItemSchema, send(`/user/memories/${memoryId}`, { method: 'PATCH', json: { content }, signal })),
    remove: (memoryId, { signal } = {}) =>
      submit(transport, `/user/memories/${memoryId}`, { method: 'DELETE', signal }),
    removeAll: ({ signal } = {}) => submit(transport, '/user/memories', { method: 'DELETE', signal }),
  }
}
