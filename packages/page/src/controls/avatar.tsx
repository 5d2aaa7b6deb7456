import { useLoaded } from './use-loaded.ts'

interface AvatarProps {
  readonly name: string
  /** Id of its picture; null or absent if there is none. */
  readonly pictureId: string | null | undefined
  readonly readFile: (id: string) => Promise<File>
}

export function Avatar({ name, pictureId, readFile }: AvatarProps) {
  const { value } = useLoaded(
    async () => pictureId && { pictureId, address: await toDataAddress(await readFile(pictureId)) },
    [pictureId],
  )
  if (value && value.pictureId === pictureId)
    return <img class="avatar u-grid u-place-center u-text u-soft u-bold u-flex-none" src={value.address} alt="" />
  return (
    <span class="avatar u-grid u-place-center u-text u-soft u-bold u-flex-none" aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  )
}

/** The content security policy allows images from `data:` URLs and from this server only. */
export function toDataAddress(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    // Read as an address, it is a text.
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
