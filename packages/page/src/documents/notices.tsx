import { useLoaded } from '../controls/use-loaded.ts'
import type { Service } from '../service/service.ts'
import { documentTexts } from '../texts/view-texts.ts'

/** Says what does not fit together: data that is not used, another embedding model than the documents have. */
export function Notices({ service }: { service: Service }) {
  const { value: notices = [] } = useLoaded((signal) => service.notices(signal), [service])
  if (notices.length === 0) return null
  return (
    <ul class="notices u-anywhere u-line u-round-8" aria-label={documentTexts.notices}>
      {notices.map((notice) => (
        <li key={notice}>{notice}</li>
      ))}
    </ul>
  )
}
