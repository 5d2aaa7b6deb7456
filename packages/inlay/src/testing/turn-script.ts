import type { Script, ScriptedModel, ScriptPart, ScriptStep } from '@inlay/agent/testing'
import { InlayError } from '@inlay/protocol'

type ModelCall = ScriptedModel['requests'][number]

/**
 * What the model does in one turn. A text is said after a search for the question, whose results it cites by their
 * numbers: `[1]` is the first. A list is the turn step by step, without a search of its own: a text or the parts of a step.
 */
export type TestAnswer = string | readonly (string | ScriptStep)[]

/** Answers in turn, or a function that answers a question; `call` is what the model was sent. */
export type TestAnswers =
  | readonly TestAnswer[]
  | ((question: string, call: ModelCall) => TestAnswer | Promise<TestAnswer>)

/** A script of whole turns. A call beyond the last turn fails, and `onEnd` gets the same error. */
export function turnScript(answers: TestAnswers, onEnd: (error: Error) => void): Script {
  let turns = 0
  const steps: ScriptStep[] = []
  return async (call) => {
    const { question, isNew } = questionOf(call)
    if (isNew) steps.length = 0
    const next = steps.shift()
    if (next) return next
    const at = turns++
    const answer = typeof answers === 'function' ? await answers(question, call) : answers[at]
    if (answer === undefined) {
      const message = `The script has no answer ${at + 1}, to ${JSON.stringify(question.slice(0, 200))}: add it to answers.`
      const error = new InlayError('VALIDATION_ERROR', { message })
      onEnd(error)
      return { reject: error }
    }
    const searches = isNew && call.tools?.some(({ name }) => name === searchName)
    if (typeof answer !== 'string') steps.push(...answer.map((step) => (typeof step === 'string' ? [step] : step)))
    else steps.push(...(searches ? [[searchFor(question)]] : []), [answer])
    return steps.shift() ?? []
  }
}

const searchName = 'internal_search'
const searchFor = (question: string): ScriptPart => ({ call: { name: searchName, input: { queries: [question] } } })

/** The last question, and whether nothing followed it yet. */
function questionOf({ prompt }: ModelCall): { question: string; isNew: boolean } {
  const at = prompt.findLastIndex(({ role }) => role === 'user')
  const message = prompt[at]
  const parts = message?.role === 'user' ? message.content : []
  const question = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return { question, isNew: !prompt.slice(at + 1).some(({ role }) => role === 'assistant' || role === 'tool') }
}
