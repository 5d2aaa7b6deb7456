import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { isJsonObject } from '@inlay/protocol'
import { readKeywordArguments, readLiteral, type LiteralMatch } from './lenient-json.ts'

/** A call found in text; `input` is the JSON text of its arguments. */
export interface TextCall {
  readonly name: string
  readonly input: string
}

export interface CallMarkup {
  readonly opening: string
  /** Closing markers; the end of the text closes it too. */
  readonly closings: readonly string[]
}

/** In matching order: longer openings first. */
export const callMarkups: readonly CallMarkup[] = [
  { opening: '<function_calls', closings: ['</function_calls>'] },
  { opening: '<function_call>', closings: ['</function_call>'] },
  // Descriptions of tools in the format of a template, repeated by the model.
  { opening: '<tools>', closings: ['</tools>'] },
  { opening: '<tool_calls>', closings: ['</tool_calls>'] },
  { opening: '<tool_call>', closings: ['</tool_call>'] },
  { opening: '<tool_response>', closings: ['</tool_response>'] },
  { opening: '<function=', closings: ['</function>'] },
  { opening: '<|python_tag|>', closings: ['<|eom_id|>', '<|eot_id|>', '\n\n'] },
  { opening: '<|tool_call|>', closings: ['<|/tool_call|>', '<|end|>'] },
  { opening: '<|tool_calls_section_begin|>', closings: ['<|tool_calls_section_end|>'] },
  { opening: '<｜tool▁calls▁begin｜>', closings: ['<｜tool▁calls▁end｜>'] },
  { opening: '<|tool_call_begin|>', closings: ['<|tool_call_end|>'] },
  { opening: '<|tool_call_start|>', closings: ['<|tool_call_end|>'] },
  { opening: '<|tool_call>', closings: ['<tool_call|>'] },
  { opening: '<start_function_call>', closings: ['<end_function_call>'] },
  { opening: '<｜tool_calls_begin｜>', closings: ['<｜tool_calls_end｜>'] },
  { opening: '<｜DSML｜function_calls>', closings: ['</｜DSML｜function_calls>'] },
  { opening: '<｜DSML｜tool_calls>', closings: ['</｜DSML｜tool_calls>'] },
  { opening: '<minimax:tool_call>', closings: ['</minimax:tool_call>'] },
  { opening: '<seed:tool_call>', closings: ['</seed:tool_call>'] },
  { opening: '<TOOLCALL>', closings: ['</TOOLCALL>'] },
  { opening: '<|START_ACTION|>', closings: ['<|END_ACTION|>'] },
  { opening: '<|action_start|>', closings: ['<|action_end|>'] },
  { opening: '<|tools_prefix|>', closings: ['<|tools_suffix|>'] },
  { opening: '<|python_start|>', closings: ['<|python_end|>'] },
  { opening: '[TOOL_CALLS]', closings: ['</s>', '\n\n'] },
  // Headers of the harmony format of gpt-oss.
  { opening: '<|start|>', closings: ['<|message|>'] },
  { opening: '<|channel|>', closings: ['<|message|>'] },
  // Gemma 3; no language of code has this name.
  { opening: '```tool_code', closings: ['\n```'] },
]

/** A header that addresses a tool; the message that follows is a call. */
const addressed = /^<\|(?:start|channel)\|>[^<]*(?:<\|channel\|>[^<]*)?to=functions\./

/** Where the markup that begins a text ends, or begins again at the latest; undefined while it is unknown. */
export function markupEnd(text: string, { opening, closings }: CallMarkup): number | undefined {
  const again = text.indexOf(opening, opening.length)
  const own = again === -1 ? text : text.slice(0, again)
  const ends = (addressed.test(own) ? ['<|call|>', '<|end|>', '<|start|>'] : closings).flatMap((closing) => {
    const at = own.indexOf(closing, opening.length)
    return at === -1 ? [] : [closing === '<|start|>' ? at : at + closing.length]
  })
  return ends.length > 0 ? Math.min(...ends) : again === -1 ? undefined : again
}

/** It has a code fence outside of an argument, or a blank line and no end. */
export function isMoreThanCall(text: string, isClosed: boolean, names: ToolNames): boolean {
  const before = /^[^]*?(?=\n[ \t>]*(?:```|~~~))/.exec(text)?.[0]
  const isArgument =
    before === undefined || /tool[▁_]sep[|｜]>[\w.-]{1,100}$/.test(before) || readTextCalls(before, names).length > 0
  return !isArgument || (!isClosed && /\n[ \t]*\n/.test(text.trimEnd()))
}

/** End-of-turn tokens of chat templates; removed at the end of a text. */
export const endSigns: readonly string[] = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<end_of_turn>',
  '<｜end▁of▁sentence｜>',
  '</answer>',
  '</response>',
  '</s>',
]

/** What some models put before an answer, with what then ends it. */
export const startSigns: Readonly<Record<string, string>> = {
  '<answer>': '</answer>',
  '<response>': '</response>',
  '<|START_RESPONSE|>': '<|END_RESPONSE|>',
  '<|channel|>final<|message|>': '<|return|>',
  '<|start|>assistant<|channel|>final<|message|>': '<|return|>',
}

/** Whether the sentence continues behind the closing tag, so that the text is about the tag. */
export const isMention = (tag: string, text: string): boolean =>
  new RegExp(`^${tag}[^\\n<]*${tag.replace('<', '</')}[ \\t]+\\p{Ll}`, 'u').test(text)

/** Whether the text after such a tag is too short to decide. */
export const mayBeMention = (text: string): boolean => text.length < 80 && !text.includes('\n')

export type ToolNames = Pick<ReadonlySet<string>, 'has'>

// The patterns below have bounded repeats and match words from their start, so that matching takes linear time.

/** Finds the calls in a text that consists only of calls, in any format; calls of unknown tools are left out. */
export function readTextCalls(text: string, names: ToolNames): readonly TextCall[] {
  const bare = withoutFence(text.trim())
  // A tool result written by the model is never a call.
  if (bare.startsWith('<tool_response>')) return []
  return [readMarkupCalls, readPairCalls, readNamedCalls, readPythonCalls, readJsonCalls]
    .map((read) => read(bare, names))
    .reduce((first, next) => (first.length > 0 ? first : next), [])
}

export function withoutFence(text: string): string {
  const body = text.replace(/^```[\w-]*[ \t]*\n?/, '')
  return body.endsWith('```') ? body.slice(0, -3).trimEnd() : body
}

/** A name without its namespace, and without remains of a template. */
export const plainToolName = (name: string): string =>
  name
    .replace(/<[^]*/, '')
    .trim()
    .replace(/^(?:functions?|tools?|default_api)[./:]/, '')

function toCall(name: unknown, input: unknown, names: ToolNames): TextCall[] {
  if (typeof name !== 'string') return []
  const known = names.has(name) ? name : plainToolName(name)
  if (!names.has(known)) return []
  return [{ name: known, input: typeof input === 'string' ? input : JSON.stringify(input ?? {}) }]
}

/**
 * `<invoke name="f"><parameter name="x">…` and `<function=f><parameter=x>…`, also with JSON as the body of a function,
 * and with a prefix before the tag names.
 */
function readMarkupCalls(prefixed: string, names: ToolNames): TextCall[] {
  const text = prefixed.replace(/(<\/?)(?:steptml:|[|｜]DSML[|｜])/g, '$1')
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

/** `f<arg_key>x</arg_key><arg_value>…` of GLM, and the name alone between tags. */
function readPairCalls(text: string, names: ToolNames): TextCall[] {
  const calls = /<tool_call>\s{0,9}([\w.-]{1,100})\s{0,9}(?=<)((?:(?!<\/?tool_call>)[\s\S])*)/g
  return [...text.matchAll(calls)].flatMap(([, name, body = '']) => {
    const pairs = body.matchAll(/<arg_key>([^<]{1,200})<\/arg_key>\s{0,9}<arg_value>([\s\S]*?)(?:<\/arg_value>|$)/g)
    return toCall(
      name,
      Object.fromEntries([...pairs].map(([, key = '', value = '']) => [key.trim(), toValue(value)])),
      names,
    )
  })
}

/**
 * `f[ARGS]{…}` of Mistral, `functions.f:0<|tool_call_argument_begin|>{…}` of Kimi, `f\n```json\n{…}` and
 * `f<｜tool▁sep｜>{…}` of DeepSeek, `to=functions.f <|constrain|>json<|message|>{…}` of gpt-oss, `call:f{…}` of Gemma,
 * `Action: f\nAction Input: {…}`, and the name on a line of its own.
 */
function readNamedCalls(marked: string, names: ToolNames): TextCall[] {
  const text = marked.replace(/<\|"\|>|<escape>/g, '"')
  const named =
    /(?<![\w.-])([\w.-]{1,100})(?::\d{1,6})?(?:(?:\s{0,9}(?:\[CALL_ID\][\w-]{0,64}|\[ARGS\]|<[|｜][^<>|｜]{1,40}[|｜]>|```(?:json)?|json|code|commentary|analysis|Action Input:)){1,6}\s{0,9}|\s{0,9}\n\s{0,9}|(?<=call:[\w.-]{1,100}))(?=\{)/g
  return [...text.matchAll(named)].flatMap((match) => {
    const literal = readLiteral(text, match.index + match[0].length)
    return typeof literal === 'object' ? toCall(match[1], literal.value, names) : []
  })
}

/** `[f(x="a"), g()]` and `f(x="a")`. */
export function readPythonCalls(text: string, names: ToolNames): TextCall[] {
  const bare = text
    .replace(/^<[^<>\n]{1,40}>/, '')
    .replace(/<[^<>\n]{1,40}>$/, '')
    .trim()
    .replace(/^print\(([\s\S]+)\)$/, '$1')
  const calls: TextCall[] = []
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

// A text with more brackets that do not start JSON is not a call.
const maxFailures = 200

/** JSON that names a tool: a single object, a list, or several objects in a row, with or without markup. */
function readJsonCalls(text: string, names: ToolNames): TextCall[] {
  const calls: TextCall[] = []
  let failures = 0
  for (let at = text.search(/[[{]/); at !== -1 && at < text.length && failures < maxFailures;) {
    const literal = readWhole(text, at)
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

/** A literal, possibly without its last brackets before an end tag; without that tag it was cut. */
function readWhole(text: string, at: number): LiteralMatch {
  const literal = readLiteral(text, at)
  if (typeof literal === 'object' || at > text.search(/[[{]/)) return literal
  const tag = /<\/?[^<>\n]{1,40}>\s*$/.exec(text)
  if (!tag) return literal
  const body = text.slice(at, tag.index).trimEnd()
  const closed = ['}', ']}', '}}', ']}}'].map((brackets) => readLiteral(body + brackets))
  const whole = closed.find((match) => typeof match === 'object')
  return whole ? { ...whole, end: text.length } : literal
}

export function callsIn(value: unknown, names: ToolNames): TextCall[] {
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

/** The arguments in the JSON of a call; undefined when it has none. */
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

/** What is quoted from tool results or user messages with their files is no call: a document cannot cause one. */
export function createQuoteCheck(prompt: LanguageModelV4Message[]): (text: string) => boolean {
  let source: string | undefined
  // Ignores escapes, since the text may have been put into JSON several times.
  const squeeze = (text: string): string => text.replaceAll(/(?<!\\)\\+[nrt]/g, '').replaceAll(/[\s\\]+/g, '')
  return (text) => {
    source ??= squeeze(JSON.stringify(prompt.filter(({ role }) => role === 'tool' || role === 'user')))
    return source.includes(squeeze(withoutFence(text)))
  }
}
