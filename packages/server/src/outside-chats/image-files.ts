import type { StoredFile, TurnFiles } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'

export interface PictureBytes {
  readonly bytes: Uint8Array
  readonly mediaType: string
}

/** Files of one call: reference pictures and generated pictures. Generated pictures are not stored. */
export interface ImageFiles extends TurnFiles {
  /** Id of a reference picture, by its index. */
  referenceId(place: number): string
  /** A generated picture, by the id that the action stored it under. */
  picture(id: string): PictureBytes | undefined
}

const notFound = async (): Promise<never> => {
  throw new InlayError('NOT_FOUND')
}

export function createImageFiles(references: readonly PictureBytes[]): ImageFiles {
  const pictures = new Map<string, PictureBytes>()
  const referenceId = (place: number): string => `reference-${place}`
  return {
    referenceId,
    picture: (id) => pictures.get(id),
    list: async () => [],
    read: notFound,
    open: async (id) => {
      const picture = references.find((_, place) => referenceId(place) === id)
      if (!picture) return notFound()
      return { file: toFile(id, picture), bytes: new Blob([picture.bytes.slice()]).stream() }
    },
    keep: async ({ bytes, mediaType }) => {
      const pieces: Uint8Array<ArrayBuffer>[] = []
      for await (const piece of bytes) pieces.push(piece.slice())
      const picture = { bytes: await new Blob(pieces).bytes(), mediaType }
      const id = `made-${pictures.size}`
      pictures.set(id, picture)
      return toFile(id, picture)
    },
  }
}

function toFile(id: string, { bytes, mediaType }: PictureBytes): StoredFile {
  return {
    id,
    fileId: id,
    ownerId: '',
    name: id,
    mediaType,
    kind: 'image',
    sizeBytes: bytes.byteLength,
    status: 'COMPLETED',
    reason: null,
    tokens: null,
    createdAt: 0,
    usedAt: null,
  }
}
