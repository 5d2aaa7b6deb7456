import { createClient, type Client } from '@inlay/client'
import { InlayError, isJsonObject, readJson, type LlmOverride } from '@inlay/protocol'
import {
  evaluate,
  failureLines,
  faultOf,
  readQuestions,
  toReport,
  toTable,
  type EvaluationQuestion,
  type EvaluationReport,
} from '@inlay/evaluation'
import { misuse, textIn, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { baseUrlOf, serverFetch, withService } from './service.ts'
import { option } from './shared-options.ts'

export const evaluation: Command = {
  ...commandTable.eval,
  details: [
    'One question per line: {"question": "…", "answers": ["…"], "sources": ["id, link or name"], "absent": false}.',
    'Only the question is required. "absent": the documents do not contain the answer, and it should say so.',
    '"tuned": a model or setting was chosen with this question; tuned questions are scored separately.',
    'Without a URL it uses the data folder and the settings of this machine.',
  ],
  words: [1, 2],
  needs: 'a file of questions',
  options: {
    model: option('provider/model', 'model to use (default: the default model of the installation)'),
    judge: option('provider/model', 'model that checks citations, in addition to a comparison of words'),
    against: option('address', 'second installation to compare with'),
    'against-key': option('key', 'its key (default: the same)'),
    'against-model': option('provider/model', 'model to compare with'),
    'against-report': option('file', 'earlier output of --json to compare with'),
    limit: option('n', 'ask the first n questions only'),
    concurrency: option('n', 'questions asked at a time (default: 2)'),
    show: option('n', 'show n answers that are wrong'),
  },
  async run(context) {
    const { output } = context
    const questions = await questionsOf(context)
    const address = context.words[1] ?? textOption(context, 'url')
    const model = textOption(context, 'model')
    const reports = [await evaluated(context, questions, { address, key: textOption(context, 'key'), model })]
    const against = await comparison(context, questions, address)
    if (against) reports.push(against)
    const lines = [...toTable(reports), ...failureLines(reports), ...wrongAnswers(context, reports[0]!)]
    output.result(reports.length === 1 ? reports[0] : { reports }, lines)
    return reports.some(({ results }) => results.every(({ error }) => error !== null)) ? 1 : 0
  },
}

/** The evaluated installation (a URL, or the data folder) and model. */
interface Candidate {
  readonly address: string | undefined
  readonly key: string | undefined
  readonly model: string | undefined
}

async function questionsOf(context: CommandContext): Promise<EvaluationQuestion[]> {
  const [file = ''] = context.words
  const limit = countOption(context, 'limit', Infinity)
  return readQuestions(await textIn(file)).slice(0, limit)
}

async function comparison(
  context: CommandContext,
  questions: readonly EvaluationQuestion[],
  address: string | undefined,
): Promise<EvaluationReport | undefined> {
  const [other, model, file] = ['against', 'against-model', 'against-report'].map((name) => textOption(context, name))
  if (file !== undefined) return readReport(file, await textIn(file))
  if (other === undefined && model === undefined) return undefined
  const key = textOption(context, 'against-key') ?? textOption(context, 'key')
  return evaluated(context, questions, { address: other ?? address, key, model })
}

async function evaluated(
  context: CommandContext,
  questions: readonly EvaluationQuestion[],
  candidate: Candidate,
): Promise<EvaluationReport> {
  const { address, key = context.settings.options.apiKey } = candidate
  if (address === undefined) return withService(context, ({ client }) => ask(context, questions, candidate, client))
  const baseUrl = baseUrlOf(address)
  const client = createClient({ baseUrl, apiKey: key, fetch: serverFetch(baseUrl) })
  return ask(context, questions, candidate, client)
}

async function ask(
  context: CommandContext,
  questions: readonly EvaluationQuestion[],
  { address, model }: Candidate,
  client: Client,
): Promise<EvaluationReport> {
  const { output, signal } = context
  const name = model ?? address ?? context.settings.options.dataFolder ?? 'data folder'
  const progress = output.progress(`Asking ${name}`, questions.length)
  let done = 0
  const results = await evaluate(questions, {
    client,
    model: toOverride(model),
    judge: toOverride(textOption(context, 'judge')),
    concurrency: countOption(context, 'concurrency', 2),
    signal,
    now: () => performance.now(),
    onAnswer: () => progress.to(++done),
  }).finally(() => progress.end())
  return toReport(name, results)
}

function wrongAnswers(context: CommandContext, { results }: EvaluationReport): string[] {
  const wrong = results.flatMap((result) => {
    const fault = faultOf(result)
    return fault === undefined
      ? []
      : [['', result.question, `  ${fault}`, `  ${result.answer.replace(/\s+/g, ' ').slice(0, 300)}`]]
  })
  return wrong.slice(0, countOption(context, 'show', 0)).flat()
}

/** `provider/model`; without a provider, a model of the default provider. */
function toOverride(model: string | undefined): LlmOverride | undefined {
  if (model === undefined) return undefined
  const at = model.indexOf('/')
  return at === -1
    ? { model_version: model }
    : { model_provider: model.slice(0, at), model_version: model.slice(at + 1) }
}

function countOption(context: CommandContext, name: string, usual: number): number {
  const text = textOption(context, name)
  if (text === undefined) return usual
  if (/^\d{1,6}$/.test(text)) return name === 'concurrency' ? Math.max(1, Number(text)) : Number(text)
  throw misuse(`--${name} is a whole number.`)
}

function readReport(file: string, text: string): EvaluationReport {
  const value = readJson(text)
  if (isJsonObject(value) && isJsonObject(value['figures']) && Array.isArray(value['results']))
    return { ...(value as unknown as EvaluationReport), name: file }
  throw new InlayError('INVALID_INPUT', { message: `The file ${file} is not an output of inlay eval --json.` })
}
