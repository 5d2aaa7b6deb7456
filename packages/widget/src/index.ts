import { InlayChatElement } from './element.tsx'

export type { ApiKey, InlayChatElement } from './element.tsx'
export type { InlayChatTexts } from './texts.ts'
export type { CitedSource } from './view/turn-view.tsx'

declare global {
  interface HTMLElementTagNameMap {
    'inlay-chat': InlayChatElement
  }
}

// Does nothing if loaded twice, or in server-side rendering.
if (globalThis.customElements?.get('inlay-chat') === undefined)
  globalThis.customElements?.define('inlay-chat', InlayChatElement)
