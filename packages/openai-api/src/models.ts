import type { ModelListing } from '@inlay/agent'
import type { Conversations, StoredPersona } from '@inlay/conversations'
import { InlayError, type LlmOverride, type Principal } from '@inlay/protocol'
import { routesOf, type Route } from '@inlay/server'
import * as v from 'valibot'

const route = routesOf('Models', { scope: 'chat', owner: 'caller' })

const modelSchema = v.object({
  /** What requests name as `model`. */
  id: v.string(),
  object: v.literal('model'),
  /** Seconds since 1970 UTC. */
  created: v.number(),
  owned_by: v.string(),
  /** Name for people. */
  name: v.string(),
  description: v.string(),
})

const base = 'inlay'
/** Nothing reads it, and agents have no date. */
const created = 1_767_225_600

export const modelRoutes: readonly Route[] = [
  route('GET /v1/models', 'listOpenaiModels', 'List models', {
    description: 'The agents that the caller may use. A model can be named behind one: `inlay/<agent>@<model>`.',
    answer: {
      description: 'The agents, the default one first.',
      schema: v.object({ object: v.literal('list'), data: v.array(modelSchema) }),
    },
    async handle({ caller, parts }) {
      const agents = await listAgents(parts.agent, caller)
      return { object: 'list' as const, data: [...agents].map(([id, agent]) => toModel(id, agent)) }
    },
  }),
  route('GET /v1/models/{model}', 'getOpenaiModel', 'One model', {
    aliases: ['/v1/models/{model}/{agent}', '/v1/models/{model}/{agent}/{rest}'],
    input: { path: v.object({ model: v.string(), agent: v.optional(v.string()), rest: v.optional(v.string()) }) },
    answer: { description: 'The agent.', schema: modelSchema },
    errors: ['PERSONA_NOT_FOUND'],
    async handle({ path: { model, agent, rest }, caller, parts }) {
      const id = [model, agent, rest].filter((segment) => segment !== undefined).join('/')
      const { persona } = await resolveModel(id, parts.agent, caller)
      return toModel(id, persona)
    },
  }),
]

function toModel(id: string, { name, description }: StoredPersona): v.InferOutput<typeof modelSchema> {
  return { id, object: 'model', created, owned_by: base, name: name || 'Inlay', description }
}

/** The agents of a caller by the ids of their models. */
async function listAgents(agent: Conversations, caller: Principal): Promise<Map<string, StoredPersona>> {
  const models = new Map<string, StoredPersona>()
  for (const persona of await agent.personas.list(caller)) {
    const id = persona.id === 0 ? base : `${base}/${slugOf(persona)}`
    models.set(models.has(id) ? `${id}-${persona.id}` : id, persona)
  }
  return models
}

function slugOf({ name, id }: StoredPersona): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  return words?.join('-').slice(0, 60) ?? `agent-${id}`
}

/**
 * Finds the agent and the model behind a name such as `inlay/hr-helper@gpt-5`.
 * @returns the override null for the model of the agent
 * @throws PERSONA_NOT_FOUND, which clients get as `model_not_found`
 */
export async function resolveModel(
  name: string,
  agent: Conversations,
  caller: Principal,
): Promise<{ readonly persona: StoredPersona; readonly override: LlmOverride | null }> {
  const [id = '', ...others] = name.trim().split('@')
  const agents = await listAgents(agent, caller)
  const persona = agents.get(id)
  if (!persona) throw notFound(name, [...agents.keys()])
  const wanted = others.join('@')
  if (wanted === '') return { persona, override: null }
  const models = await agent.models()
  const model = models.find((other) => namesOf(other).includes(wanted))
  if (!model) throw notFound(name, [...new Set(models.map((other) => `${id}@${other.name}`))])
  return { persona, override: { model_provider: model.provider, model_version: model.name } }
}

/** The name of an agent; that of the default one for an agent that the caller may no longer use. */
export async function modelNameOf(personaId: number, agent: Conversations, caller: Principal): Promise<string> {
  const agents = await listAgents(agent, caller)
  return [...agents].find(([, { id }]) => id === personaId)?.[0] ?? base
}

const namesOf = ({ provider, name }: ModelListing): string[] => [name, `${provider}/${name}`]

function notFound(name: string, known: readonly string[]): InlayError {
  const names = known.slice(0, 10).map((id) => `"${id}"`)
  return new InlayError('PERSONA_NOT_FOUND', {
    message: `The model "${name.slice(0, 200)}" does not exist, or you may not use it: take one of ${names.join(', ')}, as GET /v1/models lists them.`,
    data: { param: 'model' },
  })
}
