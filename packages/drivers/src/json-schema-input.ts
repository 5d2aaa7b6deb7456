import type { InputSchema } from '@inlay/agent'
import { argumentFaults, isJsonObject, type JsonObject } from '@inlay/protocol'

/** Types, choices and required arguments are checked; the tool itself checks the rest. */
export function jsonSchemaInput(given: JsonObject): InputSchema<JsonObject> {
  const { $schema: _, ...rest } = given
  const { properties } = given
  // Those of a reference would be hidden by empty ones beside it.
  const isNamed = '$ref' in given && properties === undefined
  const schema = {
    ...rest,
    type: 'object',
    ...(!isNamed && { properties: isJsonObject(properties) ? properties : {} }),
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'inlay',
      jsonSchema: { input: () => ({ ...schema }) },
      validate: (value) => {
        if (!isJsonObject(value)) return { issues: [{ message: 'an object of arguments is expected' }] }
        const faults = argumentFaults(value, schema)
        return faults.length > 0 ? { issues: faults.map((message) => ({ message })) } : { value }
      },
    },
  }
}
