import { InlayError, isJsonObject, readJson, type JsonObject } from '@inlay/protocol'
import * as v from 'valibot'
import { actionOf } from './action-of.ts'
import { textIn, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { findAgent } from './message-options.ts'
import { jsonOf, withService, type Service } from './service.ts'
import { plain } from './terminal-markdown.ts'

export const agents: Command = {
  ...commandTable.agents,
  details: [
    'create and update read a JSON file with the fields of POST /persona, for example',
    '{"name": "…", "description": "…", "system_prompt": "…", "document_set_ids": [1]}. Specify an agent by its name or number.',
  ],
  words: [0, Number.POSITIVE_INFINITY],
  options: {},
  async run(context) {
    const {
      action,
      given: [first = '', second = ''],
    } = actionOf(context, agents, {
      list: '',
      show: '<name or number>',
      create: '<file>',
      update: '<name or number> <file>',
      delete: '<name or number>',
    })
    if (action === 'show') return withService(context, (service) => show(context, service, first))
    if (action === 'delete') return withService(context, (service) => remove(context, service, first))
    if (action === 'create') {
      const fields = await fieldsOf(first)
      const save = async (service: Service): Promise<number> => {
        const body = JSON.stringify({ ...(await defaultsOf(service)), ...fields })
        return showSaved(context, await jsonOf(service, '/persona', savedSchema, { method: 'POST', body }))
      }
      return withService(context, save, { creates: true })
    }
    if (action === 'update') {
      const fields = await fieldsOf(second)
      return withService(context, async (service) => {
        const { id } = await findAgent(service.client, first)
        const init = { method: 'PATCH', body: JSON.stringify(fields) }
        return showSaved(context, await jsonOf(service, `/persona/${id}`, savedSchema, init))
      })
    }
    return withService(context, (service) => list(context, service))
  },
}

/** Defaults of the fields that a file may omit: the actions of the default agent, and otherwise empty values. */
async function defaultsOf({ client }: Service): Promise<JsonObject> {
  const { tools } = await client.agents.get(0)
  return {
    description: '',
    system_prompt: '',
    task_prompt: '',
    document_set_ids: [],
    tool_ids: tools.map(({ id }) => id),
    datetime_aware: true,
  }
}

async function list({ output, signal }: CommandContext, { client }: Service): Promise<number> {
  const all = await client.agents.list({ signal })
  const rowOf = ({ id, name, description }: (typeof all)[number]): string =>
    `${String(id).padStart(3)}  ${output.styled('bold', plain(name))}  ${plain(description)}`
  output.result(all, all.map(rowOf))
  return 0
}

async function show(context: CommandContext, { client }: Service, wanted: string): Promise<number> {
  const { id } = await findAgent(client, wanted)
  context.output.write(`${JSON.stringify(await client.agents.get(id), null, context.output.isJson ? undefined : 2)}\n`)
  return 0
}

async function remove({ output }: CommandContext, { client }: Service, wanted: string): Promise<number> {
  const { id, name } = await findAgent(client, wanted)
  await client.agents.remove(id)
  output.result({ id, deleted: true }, `Agent ${id}, ${plain(name)}, was deleted.`)
  return 0
}

const savedSchema = v.looseObject({ id: v.number(), name: v.string() })

function showSaved({ output }: CommandContext, agent: v.InferOutput<typeof savedSchema>): number {
  output.result(agent, `Agent ${agent.id}, ${plain(agent.name)}, is saved.`)
  return 0
}

async function fieldsOf(path: string): Promise<JsonObject> {
  const fields = readJson(await textIn(path))
  if (isJsonObject(fields)) return fields
  throw new InlayError('INVALID_INPUT', { message: `${path} does not contain a JSON object.` })
}
