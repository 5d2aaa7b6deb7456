import type { JSX } from 'preact'
import { exampleQuestions } from './examples.ts'
import type { ListedDocument } from './service.ts'

/** What stands above the question field before anything was asked. */
export function Welcome({ documents }: { documents: readonly ListedDocument[] | undefined }): JSX.Element {
  return (
    <div class="welcome">
      <h1>Ask your documents</h1>
      <p class="lead">{leadOf(documents)}</p>
    </div>
  )
}

function leadOf(documents: readonly ListedDocument[] | undefined): string {
  if (documents === undefined) return 'Every answer names the passages it is made of.'
  const indexed = documents.filter(({ state }) => state === 'indexed').length
  if (documents.length === 0) return 'There are no documents yet: add some under Documents.'
  const left = documents.length - indexed
  const count = `${indexed} ${indexed === 1 ? 'document' : 'documents'}`
  if (left > 0) return `${count} ready, ${left} on the way. Every answer names the passages it is made of.`
  return `${count}. Every answer names the passages it is made of.`
}

interface ExamplesProps {
  readonly documents: readonly ListedDocument[] | undefined
  readonly ask: (question: string) => void
}

/** Questions to begin with, made from what is indexed. Its space is kept while the list is on its way. */
export function Examples({ documents, ask }: ExamplesProps): JSX.Element {
  const indexed = (documents ?? []).filter(({ state }) => state === 'indexed')
  const questions = exampleQuestions(indexed.map(({ title }) => title))
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
