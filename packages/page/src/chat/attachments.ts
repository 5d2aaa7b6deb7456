import { useCallback, useRef, useState } from 'preact/hooks'
import type { SentFile } from '@inlay/client/conversation'
import { toFailure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'

export interface Attachment {
  /** Counts the files of this page. */
  readonly id: number
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** Null until it is made. */
  readonly preview: Preview | null
  /** The complete text if it was pasted; the user can move it into the question. */
  readonly pasted: string | null
  /** The uploaded file, to be sent with the question; null until the upload is done. */
  readonly sent: SentFile | null
  readonly refusal: string | null
}

export type Preview = { readonly picture: string } | { readonly text: string }

export type Attachments = ReturnType<typeof useAttachments>

/** Maximum number of files per question. */
const most = 10

/** The files of the next question, uploaded as soon as they are chosen. */
export function useAttachments(service: Service) {
  const [all, setAll] = useState<readonly Attachment[]>([])
  const nextId = useRef(1)

  const add = useCallback(
    (files: readonly File[], pasted: string | null = null): void => {
      for (const file of files.slice(0, most)) {
        const id = nextId.current++
        const settle = (change: Partial<Attachment>): void =>
          setAll((known) =>
            known.map((attachment) => (attachment.id === id ? { ...attachment, ...change } : attachment)),
          )
        const { name, size } = file
        setAll((known) => [...known, { id, name, size, pasted, preview: null, sent: null, refusal: null }])
        // A file without a preview is shown by its name.
        previewOf(file).then(
          (preview) => settle({ preview }),
          () => {},
        )
        service.upload(file).then(
          (answer) => settle('refusal' in answer ? answer : { sent: answer }),
          (error: unknown) => settle({ refusal: toFailure(error).message }),
        )
      }
    },
    [service],
  )
  return {
    all,
    isBusy: all.some(({ sent, refusal }) => sent === null && refusal === null),
    add,
    remove: (id: number) => setAll((known) => known.filter((attachment) => attachment.id !== id)),
    /** Removes and returns the uploaded files when the question is sent; refused ones are removed, too. */
    take: () => {
      setAll([])
      return all.flatMap(({ sent }) => (sent === null ? [] : [sent]))
    },
  }
}

/** Height of a preview in pixels, on fine screens too. */
const pictureHeight = 96
const maxPictureBytes = 20 * 2 ** 20
const previewLength = 160

async function previewOf(file: File): Promise<Preview | null> {
  if (/^image\/(png|jpeg|webp|gif)$/.test(file.type) && file.size <= maxPictureBytes) {
    const picture = await createImageBitmap(file, { resizeHeight: pictureHeight, resizeQuality: 'medium' })
    const canvas = document.createElement('canvas')
    canvas.width = Math.min(picture.width, 2 * pictureHeight)
    canvas.height = picture.height
    canvas.getContext('2d')?.drawImage(picture, 0, 0)
    picture.close()
    // The content security policy allows images from `data:` URLs and from this server only.
    return { picture: canvas.toDataURL('image/png') }
  }
  if (!file.type.startsWith('text/')) return null
  const text = (await file.slice(0, 4 * previewLength).text()).replaceAll(/\s+/g, ' ').trim()
  return text === '' ? null : { text: text.slice(0, previewLength) }
}
