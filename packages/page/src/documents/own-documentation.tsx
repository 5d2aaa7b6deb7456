import { useState } from 'preact/hooks'
import { useLoaded } from '../controls/use-loaded.ts'
import { documentTexts } from '../texts/view-texts.ts'
import type { Documents } from './use-documents.ts'
import { Button } from '../controls/button.tsx'

interface OwnDocumentationProps extends Pick<Documents, 'service' | 'change'> {
  /** How many documents there are: when that changes, it may have come or gone. */
  readonly total: number | undefined
}

export function OwnDocumentation({ service, change, total }: OwnDocumentationProps) {
  const [isLeaving, setIsLeaving] = useState(false)
  const { value: isHere } = useLoaded((signal) => service.hasOwnDocumentation(signal), [service, total])
  if (isHere !== true || isLeaving) return null
  return (
    <p class="own-documentation u-muted u-round-10 u-raised">
      {documentTexts.ownDocumentation}{' '}
      <Button
        kind="text"
        onClick={() => {
          setIsLeaving(true)
          change(service.removeOwnDocumentation()).catch(() => setIsLeaving(false))
        }}
      >
        {documentTexts.removeOwn}
      </Button>
    </p>
  )
}
