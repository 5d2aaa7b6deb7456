import { Icon } from '../controls/icons.tsx'
import { formatBytes } from '../texts/locale.ts'
import { texts } from '../texts/texts.ts'
import type { Attachment, Attachments } from './attachments.ts'

interface AttachmentListProps {
  readonly attachments: Attachments
  /** Puts a pasted text into the question, in place of its file. */
  readonly asText: (attachment: Attachment) => void
}

export function AttachmentList({ attachments, asText }: AttachmentListProps) {
  if (attachments.all.length === 0) return null
  return (
    <ul class="attachments u-all-columns u-flex u-wrap u-gap-6" aria-label={texts.chat.files}>
      {attachments.all.map((attachment) => (
        <li key={attachment.id} class={attachment.refusal === null ? 'file-chip' : 'file-chip refused'}>
          <Preview attachment={attachment} />
          <span>
            {labelOf(attachment)}
            {attachment.refusal === null && <span class="file-size">{formatBytes(attachment.size)}</span>}
          </span>
          {attachment.pasted !== null && (
            <button type="button" class="file-text u-nowrap" onClick={() => asText(attachment)}>
              {texts.chat.asText}
            </button>
          )}
          <button
            type="button"
            aria-label={texts.chat.removeFile(attachment.name)}
            onClick={() => attachments.remove(attachment.id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}

function Preview({ attachment: { preview } }: { attachment: Attachment }) {
  if (preview === null) return <Icon name="file" />
  if ('picture' in preview) return <img class="file-picture" src={preview.picture} alt="" />
  return (
    <span class="file-words" dir="auto">
      {preview.text}
    </span>
  )
}

function labelOf({ name, sent, refusal }: Attachment): string {
  if (refusal !== null) return texts.chat.refused(name, refusal)
  return sent === null ? texts.chat.uploading(name) : name
}
