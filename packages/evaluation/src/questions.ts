import { InlayError, readJson } from '@inlay/protocol'
import * as v from 'valibot'

/** A question with a known answer. */
export interface EvaluationQuestion {
  readonly question: string
  /** Texts of which a right answer contains at least one; [] if unknown. */
  readonly answers: readonly string[]
  /** Documents of which the first citation should be one: their ids, links or names; [] if unknown. */
  readonly sources: readonly string[]
  /** Whether the documents contain no answer: the right answer says so, without a citation. */
  readonly isAbsent: boolean
  /** Whether a model, prompt or setting was chosen with this question: it is then scored separately. */
  readonly isTuned: boolean
}

// A single text is treated as a list.
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
 * Reads questions, one JSON object per line, with `question` and optionally `answers`, `sources`, `absent`, `tuned`;
 * `answer`, `source` and `document` are for a single value.
 */
export function readQuestions(jsonLines: string): EvaluationQuestion[] {
  const questions = jsonLines.split('\n').flatMap((line, at): EvaluationQuestion[] => {
    if (line.trim() === '') return []
    const parsed = v.safeParse(lineSchema, readJson(line))
    if (!parsed.success) {
      const expected = '{"question": "…", "answers": ["…"], "sources": ["…"], "absent": false, "tuned": false}'
      throw new InlayError('INVALID_INPUT', { message: `Line ${at + 1} of the questions must be ${expected}.` })
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
  throw new InlayError('INVALID_INPUT', { message: 'The file contains no questions.' })
}
