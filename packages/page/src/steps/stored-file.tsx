import { useLoaded } from '../controls/use-loaded.ts'
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

export function StoredFile({ id, words, readFile }: StoredFileProps) {
  const { value, failure } = useLoaded(async () => {
    const file = await readFile(id)
    return { file, picture: drawnTypes.has(file.type) ? await toDataAddress(file) : null }
  }, [id, readFile])
  if (failure !== null) return <p class="made-file u-note">{texts.steps.fileIsGone}</p>
  if (value === undefined) return <p class="made-file u-note">{texts.frame.loading}</p>
  const { file, picture } = value
  return (
    <figure class="made-file u-note">
      {picture !== null && <img class="u-surface u-block u-line u-round-10" src={picture} alt={words ?? file.name} />}
      <figcaption>
        <Button kind="text" class="u-anywhere" onClick={() => saveFile(file)}>
          <Icon name="file" />
          {texts.steps.saveFile(file.name)}
        </Button>
      </figcaption>
    </figure>
  )
}
