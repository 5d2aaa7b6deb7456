import { isJsonObject } from '@inlay/protocol'
import type { RequestedCall } from './tool-loop.ts'
import { readKeywordArguments, readLiteral } from './lenient-json.ts'

/** Markup that models write calls in; it never belongs to an answer. */
export interface CallMarkup {
  readonly opening: string
  /** What ends it; the end of the text does too. */
  readonly closings: readonly string[]
}

/** In the order in which they are looked for at one place: longer openings first. */
export const callMarkups: readonly CallMarkup[] = [
  { opening: '<function_calls', closings: ['</function_calls>'] },
  // Descriptions of tools as a template showed them, said back.
  { opening: '<tools>', closings: ['</tools>'] },
  { opening: '<tool_calls>', closings: ['</tool_calls>'] },
  { opening: '<tool_call>', closings: ['</tool_call>'] },
  { opening: '<tool_response>', closings: ['</tool_response>'] },
  { opening: '<function=', closings: ['</function>'] },
  { opening: '<|python_tag|>', closings: ['<|eom_id|>', '<|eot_id|>'] },
  { opening: '<|tool_call|>', closings: ['<|/tool_call|>', '<|end|>'] },
  { opening: '<|tool_calls_section_begin|>', closings: ['<|tool_calls_section_end|>'] },
  { opening: '<｜tool▁calls▁begin｜>', closings: ['<｜tool▁calls▁end｜>'] },
  { opening: '[TOOL_CALLS]', closings: ['</s>'] },
]

// The patterns below bound what repeats and take words from their beginning, so that any text costs linear time.

/** Finds the calls in a text that is nothing but calls, in any format; names that are not offered are left out. */
export function readTextCalls(text: string, names: ReadonlySet<string>): readonly RequestedCall[] {
  const bare = withoutFence(text.trim())
  // What stands in for a tool's result is never a call.
  if (bare.startsWith('<tool_response>')) return []
  return [readMarkupCalls, readNamedCalls, readPythonCalls, readJsonCalls]
    .map((read) => read(bare, names))
    .reduce((first, next) => (first.length > 0 ? first : next), [])
}

export function withoutFence(text: string): string {
  return text.replace(/^```[\w-]*[ \t]*\n?/, '').replace(/\s*```$/, '')
}

function toCall(name: unknown, input: unknown, names: ReadonlySet<string>): RequestedCall[] {
  if (typeof name !== 'string') return []
  const known = names.has(name) ? name : name.replace(/^(?:functions?|tools?)[./:]/, '')
  if (!names.has(known)) return []
  return [{ id: '', name: known, input: typeof input === 'string' ? input : JSON.stringify(input ?? {}) }]
}

/** `<invoke name="f"><parameter name="x">…`, `<function=f><parameter=x>…`, also with JSON as the body of a function. */
function readMarkupCalls(text: string, names: ReadonlySet<string>): RequestedCall[] {
  const functions =
    /<(?:invoke\s{1,9}name="([^"]{1,200})"|function=([^>\s]{1,200}))\s{0,9}>([\s\S]*?)(?:<\/invoke>|<\/function>|$)/g
  return [...text.matchAll(functions)].flatMap(([, invoked, named, body = '']) => {
    const parameters = [
      ...body.matchAll(
        /<parameter(?:\s{1,9}name="([^"]{1,200})"[^>]{0,200}|=([^>\s]{1,200}))>([\s\S]*?)(?:<\/parameter>|$)/g,
      ),
    ]
    const input =
      parameters.length > 0
        ? Object.fromEntries(parameters.map(([, a, b, value = '']) => [a ?? b ?? '', toValue(value)]))
        : body.trim() === ''
          ? {}
          : body.trim()
    return toCall(invoked ?? named, input, names)
  })
}

/** `f[ARGS]{…}` of Mistral, `functions.f:0<|tool_call_argument_begin|>{…}` of Kimi, `f\n```json\n{…}` of DeepSeek. */
function readNamedCalls(text: string, names: ReadonlySet<string>): RequestedCall[] {
  const named =
    /(?<![\w.-])([\w.-]+)(?::\d+)?\s*(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\]|<\|tool_call_argument_begin\|>|\n```(?:json)?\s*)(?=\{)/g
  return [...text.matchAll(named)].flatMap((match) => {
    const literal = readLiteral(text, match.index + match[0].length)
    return typeof literal === 'object' ? toCall(match[1], literal.value, names) : []
  })
}

/** `[f(x="a"), g()]` and `f(x="a")`. */
export function readPythonCalls(text: string, names: ReadonlySet<string>): RequestedCall[] {
  const bare = text.replace(/^<\|python_tag\|>/, '').trim()
  const calls: RequestedCall[] = []
  let at = bare.startsWith('[') ? 1 : 0
  for (;;) {
    const head = /[\s,;]*([\w.]+)\(/y
    head.lastIndex = at
    const match = head.exec(bare)
    if (!match) return /^[\s,;\]]*$/.test(bare.slice(at)) ? calls : []
    const keywords = readKeywordArguments(bare, at + match[0].length)
    if (typeof keywords !== 'object') return []
    // `brave_search.call(query="…")` of Llama.
    const call = toCall(match[1]?.replace(/\.call$/, ''), keywords.value, names)
    if (call.length === 0) return []
    calls.push(...call)
    at = keywords.end
  }
}

// Text with more brackets that begin no JSON is something else.
const mostFailures = 200

/** JSON that names a tool, alone, in a list or one object behind the other, bare or in markup. */
function readJsonCalls(text: string, names: ReadonlySet<string>): RequestedCall[] {
  const calls: RequestedCall[] = []
  let failures = 0
  for (let at = text.search(/[[{]/); at !== -1 && at < text.length && failures < mostFailures;) {
    const literal = readLiteral(text, at)
    if (typeof literal !== 'object') {
      failures++
      const next = text.slice(at + 1).search(/[[{]/)
      at = next === -1 ? -1 : at + 1 + next
      continue
    }
    calls.push(...callsIn(literal.value, names))
    const next = text.slice(literal.end).search(/[[{]/)
    at = next === -1 ? -1 : literal.end + next
  }
  return calls
}

/** The calls that a JSON value stands for; none when it is something else. */
export function callsIn(value: unknown, names: ReadonlySet<string>): RequestedCall[] {
  if (Array.isArray(value)) return value.flatMap((item) => callsIn(item, names))
  if (!isJsonObject(value)) return []
  if (Array.isArray(value['tool_calls'])) return callsIn(value['tool_calls'], names)
  const inner = value['function']
  if (isJsonObject(inner)) return callsIn(inner, names)
  const name = [value['name'], value['tool'], value['tool_name'], inner, value['action']].find(
    (candidate) => typeof candidate === 'string',
  )
  if (name !== undefined) return toCall(name, argumentsOf(value) ?? {}, names)
  // `{"search": {"queries": […]}}`
  const [entry, ...others] = Object.entries(value)
  return entry && others.length === 0 && isJsonObject(entry[1]) ? toCall(entry[0], entry[1], names) : []
}

/** The arguments that a call's JSON holds; undefined when it has none. */
export function argumentsOf(value: Readonly<Record<string, unknown>>): unknown {
  return (
    value['arguments'] ??
    value['parameters'] ??
    value['input'] ??
    value['args'] ??
    value['action_input'] ??
    value['kwargs']
  )
}

function toValue(text: string): unknown {
  const literal = readLiteral(text.trim())
  return typeof literal === 'object' && literal.end === text.trim().length ? literal.value : text.trim()
}
