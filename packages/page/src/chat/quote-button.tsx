import { useState } from 'preact/hooks'
import { Icon } from '../controls/icons.tsx'
import { useListener } from '../controls/use-listener.ts'
import { texts } from '../texts/texts.ts'

interface Selected {
  readonly text: string
  /** Place in the window, in pixels. */
  readonly left: number
  readonly top: number
}

/** Maximum number of characters of a quote; a longer one does not clarify the question. */
const maxQuote = 2000

/** Offers to ask about what is selected in an answer or a source. Keyboards reach it as the last thing of the page's thread. */
export function QuoteButton({ quote }: { quote: (text: string) => void }) {
  const [selected, setSelected] = useState<Selected | null>(null)
  const look = (): void => setSelected(selection())
  useListener(document, 'selectionchange', look)
  useListener(window, 'scroll', look, { passive: true })
  if (selected === null) return null
  return (
    <button
      type="button"
      class="quote-button u-inline-flex u-center u-gap-6 u-fixed u-small u-medium u-line u-round-10 u-surface u-shadow u-as-tall"
      style={{ left: `${selected.left}px`, top: `${selected.top}px` }}
      // Without this, the press would clear the selection before the click.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => {
        // The selection may have grown since the button was drawn.
        const { text } = selection() ?? selected
        quote(text.slice(0, maxQuote))
        getSelection()?.removeAllRanges()
        setSelected(null)
      }}
    >
      <Icon name="quote" />
      {texts.chat.askAbout}
    </button>
  )
}

function selection(): Selected | null {
  const current = getSelection()
  if (current === null || current.isCollapsed || current.rangeCount === 0) return null
  const range = current.getRangeAt(0)
  const { commonAncestorContainer: node } = range
  const element = node instanceof Element ? node : node.parentElement
  const text = current.toString().trim()
  if (text.length < 3 || !element?.closest('.answer, .passage')) return null
  const box = range.getBoundingClientRect()
  if (box.bottom < 0 || box.top > innerHeight) return null
  return {
    text,
    left: Math.min(Math.max(box.left + box.width / 2, 80), innerWidth - 80),
    top: Math.max(box.top - 44, 8),
  }
}
