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
  /** Whether a model, prompt or setting was chosen by this question: its figures are told apart. */
  readonly isTuned: boolean
}

// A single text is a list of one.
const list = v.optional(
  v.union([
    v.array(v.string()),
    v.pipe(
      v.string(),
      v.transform((text) => [text]),
    ),
  ]),
)
const lineSchema = v.object({
  question: v.pipe(v.string(), v.regex(/\S/)),
  answers: list,
  answer: list,
  sources: list,
  source: list,
  document: list,
  absent: v.optional(v.boolean()),
  tuned: v.optional(v.boolean()),
})

/**
 * Reads questions, a JSON object a line: `question`, and as known `answers`, `sources`, `absent`, `tuned`;
 * `answer`, `source` and `document` name one.
 * @throws INVALID_INPUT that names the first wrong line, or says that there is none
 */
export function readQuestions(jsonLines: string): EvaluationQuestion[] {
  const questions = jsonLines.split('\n').flatMap((line, at): EvaluationQuestion[] => {
    if (line.trim() === '') return []
    const parsed = v.safeParse(lineSchema, readJson(line))
    if (!parsed.success) {
      const expected = '{"question": "…", "answers": ["…"], "sources": ["…"], "absent": false, "tuned": false}'
      throw new InlayError('INVALID_INPUT', { message: `Line ${at + 1} of the questions has to be ${expected}.` })
    }
    const {
      question,
      answers,
      answer = [],
      sources,
      source = [],
      document = [],
      absent = false,
      tuned = false,
    } = parsed.output
    return [
      {
        question,
        answers: [...(answers ?? []), ...answer],
        sources: [...(sources ?? []), ...source, ...document],
        isAbsent: absent,
        isTuned: tuned,
      },
    ]
  })
  if (questions.length > 0) return questions
  throw new InlayError('INVALID_INPUT', { message: 'There is no question in the file.' })
}
