import { setTimeout as delay } from 'node:timers/promises'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, ReplyPart, StandIn } from '../../stand-in/model-server.ts'

/** Tokens of an answer, and how long the model takes over each, in milliseconds. */
const [answerTokens, tokenMs] = [40, 25]

interface Message {
  readonly role: string
  readonly content: unknown
}

/** A model behind HTTP that does what the question says: `search`, `tools`, or nothing but answer. */
export async function startScriptedModel(): Promise<StandIn> {
  const model = await startOpenAi((request) => {
    // Only the answers count; half an hour of prompts would fill the memory.
    ;(model.requests as RecordedRequest[]).length = 0
    return replyTo(request)
  })
  return model
}

function replyTo({ body }: RecordedRequest): ReplyPart[] {
  // The stand-in received them from the assistant, as its API describes them.
  const { messages = [], tools = [] } = body as {
    messages?: readonly Message[]
    tools?: readonly { readonly function: { readonly name: string } }[]
  }
  const has = (name: string): boolean => tools.some((tool) => tool.function.name === name)
  const questionAt = messages.findLastIndex(({ role }) => role === 'user')
  const question = JSON.stringify(messages[questionAt]?.content ?? '')
  const results = messages.slice(questionAt).filter(({ role }) => role === 'tool').length
  const word = /about (\w+)/.exec(question)?.[1] ?? 'heron'
  if (has('generate_plan')) return [call('generate_plan', {})]
  if (has('research_agent'))
    return results > 0
      ? [call('generate_report', {})]
      : [calls('research_agent', [{ task: `Find out about ${word}.` }, { task: `Find more about ${word}.` }])]
  if (has('generate_report'))
    return results > 0 ? [call('generate_report', {})] : [call('internal_search', { queries: [word] })]
  if (has('internal_search')) {
    if (question.includes('search') && results === 0) return [call('internal_search', { queries: [word] })]
    if (question.includes('tools') && results < 3)
      return results === 0
        ? [calls('internal_search', [{ queries: [word] }, { queries: [`${word} again`] }])]
        : [call('internal_search', { queries: [`more ${word}`] })]
  }
  return Array.from({ length: answerTokens }, (_, at): ReplyPart[] => [
    { text: at === answerTokens - 1 ? `${word} [1].` : `${word} ` },
    { pause: () => delay(tokenMs) },
  ]).flat()
}

const call = (name: string, input: unknown): ReplyPart => calls(name, [input])

function calls(name: string, inputs: readonly unknown[]): ReplyPart {
  return { calls: inputs.map((input) => ({ id: `call_${crypto.randomUUID()}`, name, input })) }
}
