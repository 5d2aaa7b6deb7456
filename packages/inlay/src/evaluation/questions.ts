import { InlayError, readJson } from '@inlay/protocol'
import * as v from 'valibot'

/** A question whose right answer is known. */
export interface EvaluationQuestion {
  readonly question: string
  /** Texts of which the answer should hold one. [] when that is not known. */
  readonly answers: readonly string[]
  /** Documents of which the first citation should name one: their ids, links or names. [] when that is not known. */
  readonly sources: readonly string[]
  /** The documents do not tell: the right answer is to say so, without a citation. */
  readonly isAbsent: boolean
}

const list = v.optional(v.array(v.string()))
const lineSchema = v.object({
  question: v.pipe(v.string(), v.regex(/\S/)),
  answers: list,
  sources: list,
  document: v.optional(v.string()),
  absent: v.optional(v.boolean()),
})

/**
 * Reads questions, a JSON object a line: `question`, and as known `answers`, `sources` (or one `document`), `absent`.
 * @throws INVALID_INPUT that names the first wrong line, or says that there is none
 */
export function readQuestions(jsonLines: string): EvaluationQuestion[] {
  const questions = jsonLines.split('\n').flatMap((line, at): EvaluationQuestion[] => {
    if (line.trim() === '') return []
    const parsed = v.safeParse(lineSchema, readJson(line))
    if (!parsed.success) {
      const expected = '{"question": "…", "answers": ["…"], "sources": ["…"], "absent": false}'
      throw new InlayError('INVALID_INPUT', { message: `Line ${at + 1} of the questions has to be ${expected}.` })
    }
    const { question, answers = [], sources = [], document, absent = false } = parsed.output
    return [{ question, answers, sources: document === undefined ? sources : [...sources, document], isAbsent: absent }]
  })
  if (questions.length > 0) return questions
  throw new InlayError('INVALID_INPUT', { message: 'There is no question in the file.' })
}
