import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { exampleQuestions, exampleTitles, type ExampleSource } from './examples.ts'
import { fullCount, type Counts } from '../documents/counts.ts'
import type { ListedDocument, Service } from '../service/service.ts'

/** What stands above the question field before anything was asked. */
export function Welcome({ counts }: { counts: Counts | undefined }): JSX.Element {
  return (
    <div class="welcome">
      <h1>Ask your documents</h1>
      <p class="lead">{leadOf(counts)}</p>
    </div>
  )
}

function leadOf(counts: Counts | undefined): string {
  if (counts === undefined) return 'Every answer names the passages it is made of.'
  const { total, byState } = counts
  if (total.number === 0) return 'There are no documents yet: add some under Documents.'
  const count = `${fullCount(byState.indexed)} ${byState.indexed.number === 1 ? 'document' : 'documents'}`
  const left = byState.pending.number + byState.indexing.number
  if (left > 0) return `${count} ready, ${left} on the way. Every answer names the passages it is made of.`
  return `${count}. Every answer names the passages it is made of.`
}

interface ExamplesProps {
  readonly documents: readonly ListedDocument[] | undefined
  readonly service: Service
  readonly ask: (question: string) => void
}

/** Questions to begin with, made from what is indexed. Their space is kept while they are on their way. */
export function Examples({ documents, service, ask }: ExamplesProps): JSX.Element {
  const questions = useExamples(documents, service)
  return (
    <ul class="examples" aria-label="Questions to begin with">
      {questions.map((question) => (
        <li key={question}>
          <button type="button" onClick={() => ask(question)}>
            {question}
          </button>
        </li>
      ))}
    </ul>
  )
}

function useExamples(documents: readonly ListedDocument[] | undefined, service: Service): readonly string[] {
  const [questions, setQuestions] = useState<readonly string[]>([])
  const isSettled = documents?.every(({ state }) => state === 'indexed' || state === 'failed') === true
  const indexed = (documents ?? []).filter(({ state }) => state === 'indexed')
  const titles = isSettled ? exampleTitles(indexed.map(({ title }) => title)) : []
  const wanted = titles.join('\n')
  useEffect(() => {
    if (titles.length === 0) return undefined
    const leave = new AbortController()
    // A question about the title alone is better than none.
    const read = (title: string): Promise<ExampleSource> =>
      service.passagesOf(title, leave.signal).then(
        (content) => ({ title, content }),
        () => ({ title, content: '' }),
      )
    void Promise.all(titles.map(read)).then((sources) => {
      if (!leave.signal.aborted) setQuestions(exampleQuestions(sources))
    })
    return () => leave.abort()
  }, [wanted, service])
  return questions
}
