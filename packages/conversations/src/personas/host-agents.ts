import { idOfName, type HostAgent, type InstructedAgent } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { Personas, StoredPersona } from './contracts.ts'
import { defaultStoredPersona } from './persona-records.ts'

/**
 * Lists agents of the host together with stored personas: everybody may use them, nobody changes them.
 * @throws DUPLICATE_RESOURCE when two share an id
 */
export function withHostAgents(personas: Personas, agents: readonly (HostAgent | InstructedAgent)[]): Personas {
  if (agents.length === 0) return personas
  const hosted = new Map(agents.map(toPersona).map((persona) => [persona.id, persona]))
  if (hosted.size < agents.length) {
    throw new InlayError('DUPLICATE_RESOURCE', { message: 'Two agents share a name or an id: give each its own.' })
  }
  const unlessHosted =
    <Args extends [id: number, ...unknown[]], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (!hosted.has(args[0])) return call(...args)
      throw new InlayError('INVALID_INPUT', {
        message: 'This agent is defined in the code of the app and cannot be changed here: create another one.',
      })
    }
  return {
    ...personas,
    get: async (id, caller) => hosted.get(id) ?? personas.get(id, caller),
    list: async (caller, options = {}) => {
      const { ids } = options
      const chosen = [...hosted.values()].filter(({ id }) => ids === undefined || ids.includes(id))
      return [...(await personas.list(caller, options)), ...chosen]
    },
    update: unlessHosted(personas.update),
    transfer: unlessHosted(personas.transfer),
    leave: unlessHosted(personas.leave),
    remove: unlessHosted(personas.remove),
  }
}

function toPersona(agent: HostAgent | InstructedAgent): StoredPersona {
  const { id, name, description = '', starterMessages = null, actions = 'all' } = agent
  return {
    ...defaultStoredPersona,
    id: id ?? idOfName(name),
    name,
    description,
    starterMessages,
    isPublic: true,
    ...(agent.respond
      ? { hostAgent: agent }
      : { instructions: agent.instructions, ...(actions !== 'all' && { actionNames: actions }) }),
  }
}
