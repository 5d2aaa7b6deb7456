import { useEffect, useState } from 'preact/hooks'
import { documentTexts } from '../texts/view-texts.ts'
import type { Documents } from './use-documents.ts'
import { Button } from '../controls/button.tsx'

interface OwnDocumentationProps extends Pick<Documents, 'service' | 'change'> {
  /** How many documents there are: when that changes, it may have come or gone. */
  readonly total: number | undefined
}

/** Says that Inlay's own documentation is among the documents, and takes it out by one click. */
export function OwnDocumentation({ service, change, total }: OwnDocumentationProps) {
  const [isHere, setIsHere] = useState(false)
  useEffect(() => {
    const leave = new AbortController()
    service.hasOwnDocumentation(leave.signal).then(setIsHere, () => {})
    return () => leave.abort()
  }, [service, total])
  if (!isHere) return null
  return (
    <p class="own-documentation u-muted u-round-10 u-raised">
      {documentTexts.ownDocumentation}{' '}
      <Button
        kind="text"
        onClick={() => {
          setIsHere(false)
          change(service.removeOwnDocumentation()).catch(() => setIsHere(true))
        }}
      >
        {documentTexts.removeOwn}
      </Button>
    </p>
  )
}
