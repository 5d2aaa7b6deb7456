import { InlayChatElement } from './element.tsx'

export type { ApiKey, InlayChatElement } from './element.tsx'
export type { InlayChatTexts } from './texts.ts'
export type { CitedSource } from './view/turn-view.tsx'

declare global {
  interface HTMLElementTagNameMap {
    'inlay-chat': InlayChatElement
  }
}

// Loaded twice, or on a server that renders pages, it does nothing.
if (globalThis.customElements?.get('inlay-chat') === undefined)
  globalThis.customElements?.define('inlay-chat', InlayChatElement)
