import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { DocumentList } from './document-list.ts'

/** Says that Inlay's own documentation is among the documents, and takes it out by one click. */
export function OwnDocumentation({ list: { service, change, counts } }: { list: DocumentList }): JSX.Element | null {
  const [isHere, setIsHere] = useState(false)
  const total = counts?.total.number
  useEffect(() => {
    const leave = new AbortController()
    service.hasOwnDocumentation(leave.signal).then(setIsHere, () => {})
    return () => leave.abort()
  }, [service, total])
  if (!isHere) return null
  return (
    <p class="own-documentation">
      The documentation of Inlay itself is among these, to try things out.{' '}
      <button
        type="button"
        class="text-button"
        onClick={() => {
          setIsHere(false)
          change(service.removeOwnDocumentation()).catch(() => setIsHere(true))
        }}
      >
        Remove it
      </button>
    </p>
  )
}
