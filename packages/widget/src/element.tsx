import { brandScheme, createChatClient } from '@inlay/client/conversation'
import type { StarterMessage } from '@inlay/protocol'
import { render } from 'preact'
import { ask, createChat, type Chat } from './conversation.ts'
import { createPastChats, type PastChats } from './past-chats.ts'
import { styles } from './styles.ts'
import { english, type InlayChatTexts } from './texts.ts'
import { Icon } from './view/icon.tsx'
import { Panel } from './view/panel.tsx'
import type { CitedSource } from './view/turn-view.tsx'

/** A key, or a function that is called before every request. */
export type ApiKey = string | (() => string | Promise<string>)

// Default URL of the service: where the script was loaded from. A module has no current script.
const script = globalThis.document?.currentScript
const scriptBase = script instanceof HTMLScriptElement && script.src !== '' ? new URL('.', script.src).href : '/api'

/** Without a DOM, as in server-side rendering, the class can be loaded but not used. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

interface Parts {
  readonly conversation: Chat
  readonly past: PastChats
  starters: readonly StarterMessage[]
}

/** Interval at which a growing answer is rendered, in milliseconds. */
const drawMs = 30

const properties = ['apiKey', 'texts', 'message'] as const

/** `<inlay-chat>`: a chat with an Inlay service. Attributes and properties may change at any time. */
export class InlayChatElement extends Base {
  static readonly observedAttributes: readonly string[] = [
    'base-url',
    'api-key',
    'agent',
    'heading',
    'welcome',
    'placeholder',
    'inline',
    'open',
    // These may change the background.
    'theme',
    'style',
    'class',
  ]
  #apiKey: ApiKey | undefined
  #texts: Partial<InlayChatTexts> = {}
  #message: Readonly<Record<string, unknown>> = {}
  #parts: Parts | undefined
  /** The chat to show again when the element is put back into a page. */
  #leftId: string | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #schemeSheet: CSSStyleSheet | undefined

  connectedCallback(): void {
    // Properties set before the script loaded would hide the accessors.
    for (const name of properties) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete (this as Partial<InlayChatElement>)[name]
      Object.assign(this, { [name]: value })
    }
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    if (root.adoptedStyleSheets.length === 0) {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(styles)
      this.#schemeSheet = new CSSStyleSheet()
      root.adoptedStyleSheets = [sheet, this.#schemeSheet]
      root.addEventListener('keydown', (event) => this.#onKey(event as KeyboardEvent))
    }
    darkSystem().addEventListener('change', this.#followGround)
    this.#followGround()
    if (this.#leftId !== null) this.#chat().conversation.open(this.#leftId)
    this.#leftId = null
    this.#draw()
  }

  disconnectedCallback(): void {
    darkSystem().removeEventListener('change', this.#followGround)
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.shadowRoot) render(null, this.shadowRoot)
    // A move in the page removes the element and puts it back at once.
    queueMicrotask(() => {
      if (this.isConnected || !this.#parts) return
      const { conversation } = this.#parts
      this.#leftId = conversation.state.sessionId
      conversation.leave()
    })
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return
    if (name === 'base-url' || name === 'agent') this.#forgetChat()
    this.#followGround()
    this.#drawSoon()
  }

  /** Sent as bearer key. Absent: the app authenticates its visitors with cookies. */
  get apiKey(): ApiKey | undefined {
    return this.#apiKey ?? this.getAttribute('api-key') ?? undefined
  }
  set apiKey(value: ApiKey | undefined) {
    this.#apiKey = value
    if (this.#parts?.starters.length === 0) void this.#readStarters(this.#parts)
  }

  /** Texts of the element in another language; missing texts are English. */
  get texts(): Partial<InlayChatTexts> {
    return this.#texts
  }
  set texts(value: Partial<InlayChatTexts>) {
    this.#texts = value
    this.#drawSoon()
  }

  /** Fields of every message, such as `internal_search_filters`. */
  get message(): Readonly<Record<string, unknown>> {
    return this.#message
  }
  set message(value: Readonly<Record<string, unknown>>) {
    this.#message = value
    this.#forgetChat()
    this.#drawSoon()
  }

  /** Shows the window. */
  open(): void {
    this.setAttribute('open', '')
  }

  /** Hides the window; a running answer continues. */
  close(): void {
    this.removeAttribute('open')
    this.#draw()
    this.shadowRoot?.querySelector<HTMLElement>('.launcher')?.focus()
  }

  /** Asks a question as if the user had typed it. */
  ask(question: string): void {
    this.open()
    this.#leftId = null
    ask(this.#chat().conversation, question)
  }

  /** Starts a new chat. */
  newChat(): void {
    this.#leftId = null
    this.#chat().conversation.leave()
  }

  /** The next use makes another chat. Nothing of this one is read on or asked again. */
  #forgetChat(): void {
    this.#parts?.conversation.leave()
    this.#parts = undefined
    this.#leftId = null
  }

  #baseUrl(): string {
    return this.getAttribute('base-url') ?? scriptBase
  }

  /** 0 without one. */
  #agent(): number {
    return Math.max(0, Number(this.getAttribute('agent')) || 0)
  }

  #chat(): Parts {
    if (this.#parts) return this.#parts
    const baseUrl = this.#baseUrl()
    const agent = this.#agent()
    const past = createPastChats(this.hasAttribute('forget') ? undefined : `inlay-chat ${baseUrl} ${agent}`)
    const conversation = createChat({
      client: createChatClient({ baseUrl, fetch: (input, init) => this.#fetch(input, init) }),
      message: { ...(agent > 0 && { chat_session_info: { persona_id: agent } }), ...this.#message },
      past,
      onChange: () => this.#drawSoon(),
    })
    const parts: Parts = { conversation, past, starters: [] }
    this.#parts = parts
    void this.#readStarters(parts)
    const [last] = past.list()
    if (last !== undefined) conversation.open(last.id)
    return parts
  }

  /** What the agent suggests to ask. Without it, people type their questions. */
  async #readStarters(parts: Parts): Promise<void> {
    if (this.#agent() === 0) return
    try {
      const response = await this.#fetch(`${this.#baseUrl().replace(/\/$/, '')}/persona/${this.#agent()}`, {})
      if (!response.ok) return
      const agent = (await response.json()) as { starter_messages?: readonly StarterMessage[] | null }
      parts.starters = agent.starter_messages ?? []
      this.#drawSoon()
    } catch {
      // The first question says what is wrong.
    }
  }

  async #fetch(input: string | URL | Request, init: RequestInit): Promise<Response> {
    // Read for each request, so that a key set later is used.
    const key = typeof this.apiKey === 'function' ? await this.apiKey() : this.apiKey
    const headers = { ...init.headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) }
    return fetch(input, { ...init, headers })
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || this.hasAttribute('inline') || !this.hasAttribute('open')) return
    event.stopPropagation()
    this.close()
  }

  /** Lets the page open a source: if a listener prevents the default, this element does not show it. */
  #openSource(source: CitedSource): boolean {
    return this.dispatchEvent(
      new CustomEvent('inlay-source', { detail: source, bubbles: true, composed: true, cancelable: true }),
    )
  }

  /** Keeps the colour scheme to the colours that the page sets, which may be light ones that hold in a dark system, too. */
  readonly #followGround = (): void => {
    if (!this.#schemeSheet || !this.isConnected) return
    // A colour of two values depends on the theme and the system again.
    this.#schemeSheet.replaceSync('')
    const scheme = brandScheme(this)
    if (scheme === undefined) return
    this.#schemeSheet.replaceSync(`:host { color-scheme: ${scheme} !important }`)
  }

  #drawSoon(): void {
    if (this.isConnected) this.#timer ??= setTimeout(() => this.#draw(), drawMs)
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.shadowRoot || !this.isConnected) return
    const isInline = this.hasAttribute('inline')
    const isOpen = isInline || this.hasAttribute('open')
    const texts = { ...english, ...attributeTexts(this), ...this.#texts }
    const toggle = (): void => (isOpen ? this.close() : this.open())
    render(
      <>
        {isOpen && (
          <Panel
            {...this.#chat()}
            texts={texts}
            openSource={(source) => this.#openSource(source)}
            close={isInline ? undefined : () => this.close()}
          />
        )}
        {!isInline && (
          <button
            type="button"
            class="launcher"
            aria-label={isOpen ? texts.close : texts.open}
            aria-expanded={isOpen}
            onClick={toggle}
          >
            <Icon path={isOpen ? 'M6 9l6 6 6-6' : 'M4 5h16v11H9l-5 4z'} />
          </button>
        )}
      </>,
      this.shadowRoot,
    )
  }
}

const darkSystem = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)')

function attributeTexts(element: HTMLElement): Partial<InlayChatTexts> {
  const names = ['heading', 'welcome', 'placeholder'] as const
  return Object.fromEntries(
    names.flatMap((name) => (element.hasAttribute(name) ? [[name, element.getAttribute(name)]] : [])),
  )
}
