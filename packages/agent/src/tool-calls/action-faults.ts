import { isJsonObject } from '@inlay/protocol'
import type { InputSchema } from '../contracts/action.ts'

/**
 * Explains why a model could not call an action, one sentence per reason; empty for an action that works. Hosts may be
 * untyped, and a wrong action would otherwise fail only with the first message.
 * @param given the host's action, see `HostAction`
 */
export function faultsOfAction(given: unknown): string[] {
  const foreign = foreignTool(given)
  if (foreign !== undefined) return [foreign]
  if (!isJsonObject(given)) return ['must be an action, see defineAction']
  const { id, name, description, run } = given
  const faults: string[] = []
  if (!isActionName(name)) faults.push(`its name must be 1 to 64 letters, digits, _ and -${shown(name)}`)
  if (id !== undefined && !isActionId(id)) faults.push('its id must be a whole number above 0')
  if (typeof description !== 'string') faults.push('it needs a description, which tells the model when to call it')
  if (typeof run !== 'function') faults.push('it needs a function run(input, turn)')
  const schema = faultOfSchema(given['input'], String(name))
  return schema === undefined ? faults : [...faults, schema]
}

/** A name that every model provider accepts. */
export const isActionName = (name: unknown): name is string => typeof name === 'string' && /^[\w-]{1,64}$/.test(name)

export const isActionId = (id: unknown): id is number => Number.isInteger(id) && Number(id) > 0

/** Whether a value is a Standard Schema that also gives JSON Schema. */
export function hasJsonSchema(schema: unknown): boolean {
  const standard: unknown = isObject(schema) ? schema['~standard'] : undefined
  return isJsonObject(standard) && isJsonObject(standard['jsonSchema'])
}

const shown = (name: unknown): string => (typeof name === 'string' ? `; "${name.slice(0, 100)}" is not` : '')

// Schemas of ArkType are functions.
const isObject = (value: unknown): value is Record<string, unknown> =>
  (typeof value === 'object' || typeof value === 'function') && value !== null

/** Names the adapter for a tool that was made for another library. */
function foreignTool(given: unknown): string | undefined {
  if (!isObject(given) || typeof given['run'] === 'function') return undefined
  const { id, inputSchema, parameters, execute } = given
  if (inputSchema === undefined && parameters === undefined && execute === undefined) return undefined
  return typeof id === 'string' && typeof execute === 'function'
    ? 'is a tool of Mastra: give it as ...mastraTools(tool), from @inlay/mastra'
    : 'is a tool of the AI SDK: give it as ...aiSdkTools({ name: tool })'
}

function faultOfSchema(schema: unknown, action: string): string | undefined {
  if (schema === undefined) return 'it needs an input schema: z.object({}) takes no arguments'
  if (!hasJsonSchema(schema))
    return 'its input must be a Standard Schema that also gives JSON Schema: zod 4 and ArkType do, valibot through toStandardJsonSchema'
  const { type, failure } = jsonSchemaOf(schema)
  if (failure !== undefined) {
    const field = failingField(schema)
    const where = field === undefined ? 'its input' : `the field ${field} of its input`
    return `${where} cannot be told to a model${action === '' ? '' : ` (action ${action})`}: ${failure}; use a type of JSON, such as z.iso.datetime() for a date, and convert it in run`
  }
  return type === undefined || type === 'object' ? undefined : `its input must be an object, not ${String(type)}`
}

function jsonSchemaOf(schema: unknown): { readonly type?: unknown; readonly failure?: string } {
  try {
    // Only called with a schema that has JSON Schema.
    return (schema as InputSchema)['~standard'].jsonSchema.input({ target: 'draft-07' })
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

/** Path of the field that has no JSON Schema; undefined where a library does not show its fields. */
function failingField(schema: unknown): string | undefined {
  const fields = isObject(schema) && isObject(schema['shape']) ? Object.entries(schema['shape']) : []
  const [name, field] = fields.find(([, each]) => hasJsonSchema(each) && jsonSchemaOf(each).failure !== undefined) ?? []
  return name === undefined ? undefined : [name, failingField(field) ?? []].flat().join('.')
}
