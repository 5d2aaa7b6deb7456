import { useEffect, useRef, useState } from 'preact/hooks'
import type { Documents } from './use-documents.ts'
import { useFileIntake, type FileIntake, type IntakeProgress } from './file-intake.ts'
import { FileField } from '../controls/file-field.tsx'
import { useFileDrop } from '../controls/use-file-drop.ts'
import { readableExtensions } from '@inlay/protocol'
import { chosenFiles, droppedFiles } from './files.ts'
import { PasteText } from './paste-text.tsx'
import { documentTexts } from '../texts/view-texts.ts'
import { Button } from '../controls/button.tsx'

interface AddDocumentsProps extends Pick<Documents, 'service' | 'change'> {
  /** Whether to leave the room to the documents that are there. */
  readonly isCompact: boolean
}

export function AddDocuments({ service, change, isCompact }: AddDocumentsProps) {
  const [pasted, setPasted] = useState<string | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const folderPicker = useRef<HTMLInputElement>(null)
  useEffect(() => folderPicker.current?.setAttribute('webkitdirectory', ''), [])
  const intake = useFileIntake(service, change)
  const place = useRef<HTMLDivElement>(null)
  const isOver = useFileDrop(place, (data) => void droppedFiles(data).then(intake.add))
  return (
    <section
      class={isCompact ? 'add-documents compact u-grid u-center u-gap-10' : 'add-documents u-grid u-gap-10'}
      aria-labelledby="add-title"
    >
      <h2 id="add-title" class="visually-hidden">
        {documentTexts.add}
      </h2>
      <div class={`drop ${isOver ? 'over ' : ''}u-grid u-place-center u-full u-muted u-round u-inside-16`} ref={place}>
        <p>
          {documentTexts.drop}{' '}
          <Button kind="text" onClick={() => picker.current?.click()}>
            {documentTexts.chooseFiles}
          </Button>{' '}
          {documentTexts.or}{' '}
          <Button kind="text" onClick={() => folderPicker.current?.click()}>
            {documentTexts.chooseFolder}
          </Button>
        </p>
        <p class="hint u-small">{documentTexts.kinds}</p>
        <FileField
          picker={picker}
          accept={[...readableExtensions, '.png', '.jpg', '.jpeg'].join(',')}
          label={documentTexts.filesField}
          take={(files) => {
            setPasted(null)
            intake.add(chosenFiles(files))
          }}
        />
        <FileField
          picker={folderPicker}
          label={documentTexts.folderField}
          take={(files) => {
            setPasted(null)
            // Hidden files are left out, as in a folder that is dropped.
            intake.add(chosenFiles(files).filter(({ path }) => !path.split('/').some((name) => name.startsWith('.'))))
          }}
        />
      </div>
      <PasteText add={(document) => change(service.ingest(document))} report={setPasted} />
      <Doubles intake={intake} />
      <div class="intake-words u-full u-muted u-anywhere" role="status">
        <IntakeWords intake={intake} pasted={pasted} />
      </div>
    </section>
  )
}

function Doubles({ intake: { doubles, settleDoubles, dropDoubles } }: { intake: FileIntake }) {
  const [first] = doubles
  if (first === undefined) return null
  const isSingle = doubles.length === 1
  return (
    <div class="doubles u-grid u-gap-10 u-full u-anywhere u-round" role="group" aria-label={documentTexts.doubles}>
      <p>{isSingle ? documentTexts.isHere(first.path) : documentTexts.areHere(doubles.length, first.path)}</p>
      <div class="row u-wrap">
        <Button kind="filled" onClick={() => settleDoubles('replace')}>
          {isSingle ? documentTexts.replaceIt : documentTexts.replaceThem}
        </Button>
        <Button onClick={() => settleDoubles('keep both')}>{documentTexts.keepBoth}</Button>
        <Button onClick={dropDoubles}>{documentTexts.leaveOut}</Button>
      </div>
    </div>
  )
}

/** Number of files before a remaining time can be estimated. */
const minFiles = 5

function paceOf({ done, total, startedAt }: IntakeProgress): string {
  const seconds = (Date.now() - startedAt) / 1000
  if (done < minFiles || seconds < 1) return ''
  const rate = done / seconds
  return documentTexts.rate(Math.round(rate * 10) / 10, Math.ceil((total - done) / rate))
}

const maxNames = 20

function RefusedFiles({ reason, paths }: { reason: string; paths: readonly string[] }) {
  if (paths.length === 1) return <li>{documentTexts.refusedFor(paths[0]!, reason)}</li>
  const more = paths.length - maxNames
  return (
    <li>
      <details>
        <summary>{documentTexts.filesWith(paths.length, reason)}</summary>
        <p>
          {paths.slice(0, maxNames).join(', ')} {more > 0 && documentTexts.andMore(more)}
        </p>
      </details>
    </li>
  )
}

function IntakeWords({ intake, pasted }: { intake: FileIntake; pasted: string | null }) {
  const { progress, taken, refusals } = intake
  return (
    <>
      {progress !== null && (
        <p>
          {documentTexts.reading(Math.min(progress.done + 1, progress.total), progress.total)}{' '}
          <span class="count">{paceOf(progress)}</span>
        </p>
      )}
      {progress === null && taken > 0 && <p>{documentTexts.taken(taken)}</p>}
      {refusals.length > 0 && (
        <div class="refused-files u-line u-round-10 u-above-8">
          <p>
            {documentTexts.refused(refusals.length)}{' '}
            <Button kind="text" onClick={intake.forgetRefusals}>
              {documentTexts.clearList}
            </Button>
          </p>
          <ul class="u-small u-scroll u-anywhere" tabIndex={0} aria-label={documentTexts.refusedFiles}>
            {[...Map.groupBy(refusals, ({ reason }) => reason)].map(([reason, files]) => (
              <RefusedFiles key={reason} reason={reason} paths={files.map(({ path }) => path)} />
            ))}
          </ul>
        </div>
      )}
      {pasted !== null && <p>{pasted}</p>}
    </>
  )
}
