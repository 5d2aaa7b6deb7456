import { useEffect, useState } from 'preact/hooks'
import { toDataAddress } from '../controls/avatar.tsx'
import { Button } from '../controls/button.tsx'
import { saveFile } from '../controls/save-file.ts'
import { Icon } from '../controls/icons.tsx'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'

/** Image types that the page displays; others can only be saved. No SVG, which can contain scripts. */
const drawnTypes = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

interface StoredFileProps {
  readonly id: string
  /** Alternative text of a picture; null: its name. */
  readonly words: string | null
  readonly readFile: Service['file']
}

/** A file of the service: a picture is shown, and any can be saved. */
export function StoredFile({ id, words, readFile }: StoredFileProps) {
  const [file, setFile] = useState<{ file: File; picture: string | null } | 'gone' | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    readFile(id)
      .then(async (read) => ({ file: read, picture: drawnTypes.has(read.type) ? await toDataAddress(read) : null }))
      .then(
        (read) => isCurrent && setFile(read),
        () => isCurrent && setFile('gone'),
      )
    return () => {
      isCurrent = false
    }
  }, [id, readFile])
  if (file === undefined) return <p class="made-file u-note">{texts.frame.loading}</p>
  if (file === 'gone') return <p class="made-file u-note">{texts.steps.fileIsGone}</p>
  return (
    <figure class="made-file u-note">
      {file.picture !== null && (
        <img class="u-surface u-block u-line u-round-10" src={file.picture} alt={words ?? file.file.name} />
      )}
      <figcaption>
        <Button kind="text" class="u-anywhere" onClick={() => saveFile(file.file)}>
          <Icon name="file" />
          {texts.steps.saveFile(file.file.name)}
        </Button>
      </figcaption>
    </figure>
  )
}
