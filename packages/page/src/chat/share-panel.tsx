import { useEffect, useRef, useState } from 'preact/hooks'
import { onEscape } from '../controls/on-escape.ts'
import { sharedAddress } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { CopyButton } from '../controls/copy-button.tsx'
import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'

interface SharePanelProps {
  readonly sessionId: string
  readonly service: Pick<Service, 'chat' | 'share'>
  readonly close: () => void
}

/** Shares a conversation by an address that can be copied, and ends that. Nothing is shared before it is asked for. */
export function SharePanel({ sessionId, service, close }: SharePanelProps) {
  const { value: chat, failure: readFailure } = useLoaded(() => service.chat(sessionId), [sessionId, service])
  const [changed, setChanged] = useState<boolean | undefined>(undefined)
  const isShared = changed ?? (chat && chat.shared_status === 'public')
  const [failure, setFailure] = useState<Failure | null>(null)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [])
  const change = (shares: boolean): void => {
    setFailure(null)
    service.share(sessionId, shares).then(
      () => setChanged(shares),
      (error: unknown) => setFailure(toFailure(error)),
    )
  }
  const { shareTitle, shareLead, makeLink, link, copyLink, stopSharing, isShared: sharedWords } = texts.chat
  const address = `${location.origin}${location.pathname}${sharedAddress(sessionId)}`
  return (
    <div
      ref={panel}
      class="share-panel u-grid u-gap-12 u-note u-card u-shadow"
      role="group"
      aria-label={shareTitle}
      tabIndex={-1}
      onKeyDown={onEscape(close)}
    >
      <p>{shareLead}</p>
      {isShared === true && (
        <div class="row">
          <input
            type="text"
            readOnly
            aria-label={link}
            value={address}
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={address} label={copyLink} />
        </div>
      )}
      <div class="row">
        {isShared !== undefined && (
          <button type="button" class={isShared ? 'quiet-button' : 'button'} onClick={() => change(!isShared)}>
            {isShared ? stopSharing : makeLink}
          </button>
        )}
        <Button onClick={close}>{texts.frame.close}</Button>
      </div>
      <p class="visually-hidden" role="status">
        {isShared === true ? sharedWords : ''}
      </p>
      {(failure ?? readFailure) && <FailureNote failure={(failure ?? readFailure)!} />}
    </div>
  )
}
