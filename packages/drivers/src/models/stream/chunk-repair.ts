import { isJsonObject, readJson } from '@inlay/protocol'

/** Converts the chunks of various chat completions servers to the form that providers read. */
export interface ChunkRepair {
  /** @returns the data to hand on in its place: the same where nothing is wrong, [] where it says nothing */
  read(data: string): readonly string[]
  /** Text went past. */
  noteText(): void
}

type Fields = Readonly<Record<string, unknown>>

const done = '[DONE]'
const lengthEnds = /^(?:max_(?:output_|completion_)?tokens|max_length|model_length|token_limit|length)$/i
const failedEnds = /^(?:error|abort(?:ed)?|network_error|insufficient_system_resource|engine_overloaded)$/i

export function createChunkRepair(): ChunkRepair {
  let hasOutput = false
  let hasEnd = false
  return {
    noteText: () => (hasOutput = true),
    read: (data) => {
      // Some servers mark the end of the stream only with this.
      if (data === done) return hasOutput && !hasEnd ? [JSON.stringify({ choices: [endChoice] }), data] : [data]
      const read = readJson(data)
      if (!isJsonObject(read)) return data.trim() === '' ? [] : [data]
      const value = repairUsage(read)
      if (isPresent(value['error'])) return [data]
      const { choices } = value
      if (!Array.isArray(choices)) {
        // Error format of older vLLM, FastAPI and DashScope.
        const message = value['message'] ?? value['detail']
        if (isPresent(message)) return [JSON.stringify({ error: { ...value, message: asText(message) } })]
        // Pings, notes of gateways, and counts of tokens without a list.
        return isJsonObject(value['usage']) ? [JSON.stringify({ ...value, choices: [] })] : []
      }
      const choice: unknown = choices[0]
      if (!isJsonObject(choice)) return [value === read ? data : JSON.stringify(value)]
      const failure = failureOf(choice)
      if (failure) return [JSON.stringify({ error: failure })]
      const plain = repairChoice(choice)
      hasOutput ||= isJsonObject(plain['delta']) && Array.isArray(plain['delta']['tool_calls'])
      hasEnd ||= typeof plain['finish_reason'] === 'string'
      return [plain === choice && value === read ? data : JSON.stringify({ ...value, choices: [plain] })]
    },
  }
}

const endChoice = { index: 0, delta: {}, finish_reason: 'stop' }
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** Error of a choice, as opposed to errors of the whole stream. */
function failureOf({ error, finish_reason: end }: Fields): unknown {
  if (isPresent(error)) return error
  if (typeof end !== 'string' || !failedEnds.test(end)) return undefined
  const isBusy = /resource|overloaded/.test(end)
  return { message: `The server ended the answer: ${end}.`, type: isBusy ? 'service_unavailable' : 'server_error' }
}

/** Some servers count tokens in texts; a good answer must not end as a failure for it. */
function repairUsage(value: Fields): Fields {
  const { usage } = value
  if (!isJsonObject(usage) || !Object.values(usage).some((count) => typeof count === 'string')) return value
  const counts = Object.entries(usage).map(([name, count]) => {
    const number = typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : null
    return [name, typeof count === 'string' ? number : count]
  })
  return { ...value, usage: Object.fromEntries(counts) as unknown }
}

function repairChoice(choice: Fields): Fields {
  const { delta, finish_reason: end } = choice
  const isLength = typeof end === 'string' && end !== 'length' && lengthEnds.test(end)
  const isNumber = typeof end === 'number'
  const repaired = isJsonObject(delta) ? repairDelta(delta) : delta
  if (repaired === delta && !isLength && !isNumber) return choice
  return { ...choice, delta: repaired, finish_reason: isLength ? 'length' : isNumber ? 'stop' : end }
}

/** Arguments as the object itself, and calls as the API had them before there were several. */
function repairDelta(delta: Fields): Fields {
  const { function_call: old, tool_calls: calls } = delta
  if (isJsonObject(old) && !isPresent(calls)) {
    const { function_call: _, ...others } = delta
    // Some servers name the field in every chunk.
    if (!old['name'] && !old['arguments']) return others
    const call = {
      index: 0,
      type: 'function',
      function: withText(old),
      ...(isPresent(old['name']) && { id: 'call-1' }),
    }
    return { ...others, tool_calls: [call] }
  }
  const hasObject = (call: unknown): boolean =>
    isJsonObject(call) && isJsonObject(call['function']) && isObject(call['function']['arguments'])
  if (!Array.isArray(calls) || !calls.some(hasObject)) return delta
  return {
    ...delta,
    tool_calls: calls.map((call: unknown) =>
      isJsonObject(call) && isJsonObject(call['function']) ? { ...call, function: withText(call['function']) } : call,
    ),
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

function withText(called: Fields): Fields {
  const { arguments: args } = called
  return isObject(args) ? { ...called, arguments: JSON.stringify(args) } : called
}
