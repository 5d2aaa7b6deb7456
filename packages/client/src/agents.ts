import {
  type FullPersona,
  fullPersonaSchema,
  type MinimalPersona,
  minimalPersonaSchema,
  type PersonaCreation,
  type PersonaFields,
} from '@inlay/protocol'
import { type CallOptions, read, readList, submit } from './call.ts'
import type { Transport } from './transport.ts'

/** Agents: instructions, actions and knowledge for a purpose. The default agent has the id 0. */
export interface AgentsClient {
  /** Lists the agents that the caller may use. */
  list(options?: CallOptions): Promise<readonly MinimalPersona[]>
  /** @throws PERSONA_NOT_FOUND */
  get(agentId: number, options?: CallOptions): Promise<FullPersona>
  create(agent: PersonaCreation, options?: CallOptions): Promise<FullPersona>
  /** Absent fields stay unchanged. @throws PERSONA_NOT_FOUND, INSUFFICIENT_PERMISSIONS for agents of others */
  update(agentId: number, change: PersonaFields, options?: CallOptions): Promise<FullPersona>
  /** @throws PERSONA_NOT_FOUND, INSUFFICIENT_PERMISSIONS for agents of others */
  remove(agentId: number, options?: CallOptions): Promise<void>
}

export function createAgentsClient(transport: Transport): AgentsClient {
  const { send } = transport
  return {
    list: ({ signal } = {}) => readList(minimalPersonaSchema, send('/persona', { signal })),
    get: (agentId, { signal } = {}) => read(fullPersonaSchema, send(`/persona/${agentId}`, { signal })),
    create: (agent, { signal } = {}) =>
      read(fullPersonaSchema, send('/persona', { method: 'POST', json: agent, signal })),
    update: (agentId, change, { signal } = {}) =>
      read(fullPersonaSchema, send(`/persona/${agentId}`, { method: 'PATCH', json: change, signal })),
    remove: (agentId, { signal } = {}) => submit(transport, `/persona/${agentId}`, { method: 'DELETE', signal }),
  }
}
