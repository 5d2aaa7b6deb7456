import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { toFailure } from '../service/failure.ts'
import type { TextDocument } from '../service/service.ts'
import { readTextFile, textEndings, typedDocument } from './text-files.ts'

interface AddDocumentsProps {
  readonly add: (document: TextDocument) => Promise<void>
}

/** Takes documents in: files dropped or chosen, or a text typed or pasted. Says what became of each. */
export function AddDocuments({ add }: AddDocumentsProps): JSX.Element {
  const [isOver, setIsOver] = useState(false)
  const [words, setWords] = useState<readonly string[]>([])
  const picker = useRef<HTMLInputElement>(null)

  const takeFiles = async (files: readonly File[]): Promise<void> => {
    const told: string[] = []
    for (const file of files) {
      const reading = await readTextFile(file)
      if ('refusal' in reading) told.push(reading.refusal)
      else
        await add(reading.document).then(
          () => told.push(`${file.name} was taken in.`),
          (error) => told.push(`${file.name}: ${toFailure(error).message}`),
        )
    }
    setWords(told)
  }
  return (
    <section class="add-documents" aria-labelledby="add-title">
      <h2 id="add-title" class="visually-hidden">
        Add documents
      </h2>
      <div
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setIsOver(false)
          void takeFiles([...(event.dataTransfer?.files ?? [])])
        }}
      >
        <p>
          Drop text or Markdown files here, or{' '}
          <button type="button" class="text-button" onClick={() => picker.current?.click()}>
            choose files
          </button>
        </p>
        <input
          ref={picker}
          type="file"
          multiple
          accept={textEndings.join(',')}
          class="visually-hidden"
          tabIndex={-1}
          aria-label="Choose files"
          onChange={(event) => {
            void takeFiles([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
      </div>
      <PasteText add={add} tell={(sentence) => setWords([sentence])} />
      <div class="told" role="status">
        {words.map((sentence, at) => (
          <p key={at}>{sentence}</p>
        ))}
      </div>
    </section>
  )
}

function PasteText({ add, tell }: AddDocumentsProps & { tell: (sentence: string) => void }): JSX.Element {
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const submit = async (): Promise<void> => {
    const document = typedDocument(title, text)
    try {
      await add(document)
      tell(`“${document.title}” was taken in.`)
      setTitle('')
      setText('')
      setIsOpen(false)
    } catch (error) {
      tell(toFailure(error).message)
    }
  }
  if (!isOpen)
    return (
      <button type="button" class="quiet-button" onClick={() => setIsOpen(true)}>
        Paste a text
      </button>
    )
  return (
    <form
      class="paste"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label>
        Title
        <input
          type="text"
          maxLength={200}
          value={title}
          placeholder="Optional"
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </label>
      <label>
        Text
        <textarea
          rows={8}
          required
          ref={(field) => {
            if (field !== null && document.activeElement === document.body) field.focus()
          }}
          value={text}
          placeholder="Plain text or Markdown"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button type="submit" class="button" disabled={text.trim() === ''}>
          Add document
        </button>
        <button type="button" class="quiet-button" onClick={() => setIsOpen(false)}>
          Cancel
        </button>
      </div>
    </form>
  )
}
