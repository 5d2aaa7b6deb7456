import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { DocumentList } from './document-list.ts'
import { useFileIntake, type FileIntake } from './file-intake.ts'
import { readableExtensions } from '@inlay/protocol'
import { chosenFiles, droppedFiles } from './files.ts'
import { PasteText } from './paste-text.tsx'

/** Takes documents in: files or folders dropped or chosen, or a text typed or pasted. Says what became of each. */
export function AddDocuments({ service, change }: Pick<DocumentList, 'service' | 'change'>): JSX.Element {
  const [isOver, setIsOver] = useState(false)
  const [pasted, setPasted] = useState<string | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const intake = useFileIntake(service, change)
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
          if (event.dataTransfer !== null) void droppedFiles(event.dataTransfer).then(intake.add)
        }}
      >
        <p>
          Drop files or folders here, or{' '}
          <button type="button" class="text-button" onClick={() => picker.current?.click()}>
            choose files
          </button>
        </p>
        <p class="hint">PDF, Word, PowerPoint, Excel, CSV, HTML, mail, Markdown and text, up to 100 MB</p>
        <input
          ref={picker}
          type="file"
          multiple
          accept={readableExtensions.join(',')}
          class="visually-hidden"
          tabIndex={-1}
          aria-label="Choose files"
          onChange={(event) => {
            const files = chosenFiles(event.currentTarget.files ?? [])
            setPasted(null)
            intake.add(files)
            event.currentTarget.value = ''
          }}
        />
      </div>
      <PasteText add={(document) => change(service.ingest(document))} report={setPasted} />
      <Doubles intake={intake} />
      <div class="intake-words" role="status">
        <IntakeWords intake={intake} pasted={pasted} />
      </div>
    </section>
  )
}

/** Asks what files are whose names are taken. */
function Doubles({ intake: { doubles, settleDoubles, dropDoubles } }: { intake: FileIntake }): JSX.Element | null {
  const [first] = doubles
  if (first === undefined) return null
  const isSingle = doubles.length === 1
  return (
    <div class="doubles" role="group" aria-label="Files whose names are taken">
      <p>
        {isSingle
          ? `${first.path} is here already.`
          : `${doubles.length} files are here already, such as ${first.path}.`}
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => settleDoubles('replace')}>
          {isSingle ? 'Replace it' : 'Replace them'}
        </button>
        <button type="button" class="quiet-button" onClick={() => settleDoubles('keep both')}>
          Keep both
        </button>
        <button type="button" class="quiet-button" onClick={dropDoubles}>
          Leave out
        </button>
      </div>
    </div>
  )
}

function IntakeWords({ intake, pasted }: { intake: FileIntake; pasted: string | null }): JSX.Element {
  const { progress, taken, refusals } = intake
  return (
    <>
      {progress !== null && (
        <p>
          Reading file {Math.min(progress.done + 1, progress.total)} of {progress.total} …
        </p>
      )}
      {progress === null && taken > 0 && (
        <p>{taken === 1 ? 'One file was taken in.' : `${taken} files were taken in.`}</p>
      )}
      {refusals.map((sentence, at) => (
        <p key={at}>{sentence}</p>
      ))}
      {pasted !== null && <p>{pasted}</p>}
    </>
  )
}
