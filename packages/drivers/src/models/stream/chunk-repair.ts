import { isJsonObject, readJson } from '@inlay/protocol'

type Fields = Readonly<Record<string, unknown>>

const done = '[DONE]'
const lengthEnds = /^(?:max_(?:output_|completion_)?tokens|max_length|model_length|token_limit|length)$/i
const failedEnds = /^(?:error|abort(?:ed)?|network_error|insufficient_system_resource|engine_overloaded)$/i

/** Converts the chunks of various chat completions servers to the form that providers read. */
export function createChunkRepair() {
  let hasOutput = false
  let hasEnd = false
  return {
    noteText: (): void => void (hasOutput = true),
    /** @returns the data to hand on in its place: the same where nothing is wrong, [] where it says nothing */
    read: (data: string): readonly string[] => {
      // Some servers mark the end of the stream only with this.
      if (data === done) return hasOutput && !hasEnd ? [JSON.stringify({ choices: [endChoice] }), data] : [data]
      const read = readJson(data)
      if (!isJsonObject(read)) return data.trim() === '' ? [] : [data]
      const value = repairFields(read)
      if (isPresent(value['error'])) return [JSON.stringify(value)]
      const { choices } = value
      if (!Array.isArray(choices)) {
        // Error format of older vLLM, FastAPI and DashScope.
        const message = value['message'] ?? value['detail']
        if (isPresent(message)) return [JSON.stringify({ error: { ...value, message: asText(message) } })]
        // Pings, notes of gateways, and counts of tokens without a list.
        return value['usage'] ? [JSON.stringify({ ...value, choices: [] })] : []
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
export const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** Error of a choice, as opposed to errors of the whole stream. */
function failureOf({ error, finish_reason: end }: Fields): unknown {
  if (isPresent(error)) return error
  if (typeof end !== 'string' || !failedEnds.test(end)) return undefined
  const isBusy = /resource|overloaded/.test(end)
  return { message: `The server ended the answer: ${end}.`, type: isBusy ? 'service_unavailable' : 'server_error' }
}

const kinds: Fields = { id: 'string', model: 'string', created: 'number' }

/**
 * Leaves out what no provider reads, and makes numbers of counts in texts: a good answer must not end as a failure for
 * the fields beside it. The same object if nothing changes.
 */
export function repairFields(value: Fields): Fields {
  const repaired: Record<string, unknown> = {}
  for (const name in kinds) if (isPresent(value[name]) && typeof value[name] !== kinds[name]) repaired[name] = null
  const { usage, choices, error } = value
  if (isPresent(usage)) repaired['usage'] = isJsonObject(usage) ? toCounts(usage) : null
  if (Array.isArray(choices) && !choices.every(isJsonObject)) repaired['choices'] = choices.filter(isJsonObject)
  if (typeof error === 'string') repaired['error'] = { message: error }
  return Object.keys(repaired).length === 0 ? value : { ...value, ...repaired }
}

function toCounts(usage: Fields): Fields {
  const counts = Object.entries(usage).map(([name, count]): [string, unknown] => {
    if (isJsonObject(count)) return [name, toCounts(count)]
    const number = typeof count === 'string' && /^\d{1,15}(?:\.\d{1,15})?$/.test(count) ? Number(count) : count
    return [name, typeof number === 'number' ? number : null]
  })
  return Object.fromEntries(counts)
}

function repairChoice(choice: Fields): Fields {
  const { delta, finish_reason: end } = choice
  const isLength = typeof end === 'string' && end !== 'length' && lengthEnds.test(end)
  const isOdd = isPresent(end) && typeof end !== 'string'
  const repaired = isJsonObject(delta) ? repairDelta(delta) : delta
  if (repaired === delta && !isLength && !isOdd) return choice
  return { ...choice, delta: repaired, finish_reason: isLength ? 'length' : isOdd ? 'stop' : end }
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
