/** What to do with a file that cannot be ingested. */
export type UnreadFileAdvice =
  /** Save it in another format, such as `.docx`. */
  | { readonly step: 'save as'; readonly extension: string }
  /** Turn OCR on, or send the text. */
  | { readonly step: 'turn OCR on' }
  /** Save it as `.png` or `.jpg`, and turn OCR on. */
  | { readonly step: 'save as picture' }
  | { readonly step: 'unpack' }
  | { readonly step: 'transcribe' }

const savedAs: Readonly<Record<string, readonly string[]>> = {
  '.docx': ['.doc', '.dot', '.wps', '.wpd', '.pages'],
  '.xlsx': ['.xls', '.xlsb', '.xlt', '.numbers'],
  '.pptx': ['.ppt', '.pps', '.pot', '.key'],
  '.pdf': ['.odg', '.vsd', '.vsdx', '.pub', '.xps', '.djvu', '.mobi', '.azw3', '.ps', '.svg'],
  '.eml': ['.msg'],
}
const otherPictures = ['.tif', '.tiff', '.webp', '.heic', '.heif', '.avif', '.gif', '.bmp']
const pictures = ['.png', '.jpg', '.jpeg']
const archives = ['.zip', '.tar', '.gz', '.tgz', '.bz2', '.xz', '.7z', '.rar']
const recordings = ['.mp3', '.m4a', '.wav', '.ogg', '.flac', '.mp4', '.mov', '.avi', '.mkv', '.webm']

const advice: ReadonlyMap<string, UnreadFileAdvice> = new Map<string, UnreadFileAdvice>([
  ...Object.entries(savedAs).flatMap(([extension, endings]) =>
    endings.map((ending) => [ending, { step: 'save as', extension }] as const),
  ),
  ...pictures.map((ending) => [ending, { step: 'turn OCR on' }] as const),
  ...otherPictures.map((ending) => [ending, { step: 'save as picture' }] as const),
  ...archives.map((ending) => [ending, { step: 'unpack' }] as const),
  ...recordings.map((ending) => [ending, { step: 'transcribe' }] as const),
])

/** What to do with a file that is not among `readableExtensions`, by its name; undefined for an unknown kind. */
export function adviceForUnreadFile(name: string): UnreadFileAdvice | undefined {
  return advice.get(/\.[^./\\]+$/.exec(name)?.[0].toLowerCase() ?? '')
}
