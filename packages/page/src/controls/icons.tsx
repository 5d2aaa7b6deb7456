/** Line drawings of 20 by 20 units, as in the attribute `d` of a path. */
const drawings = {
  send: 'M10 16V4.5M4.8 9.5 10 4.3l5.2 5.2',
  check: 'm4.5 10.5 3.6 3.6 7.4-8',
  retry: 'M15.8 10a5.8 5.8 0 1 1-1.7-4.1L16 7.8M16 4v3.8h-3.8',
  plus: 'M10 4.5v11M4.5 10h11',
  bin: 'M4 5.8h12M8 5.6V4h4v1.6M5.6 5.8l.7 9.2c.1.6.5 1 1.1 1h5.2c.6 0 1-.4 1.1-1l.7-9.2',
  chevron: 'm7.5 5 5 5-5 5',
  out: 'M8 5H5.5A1.5 1.5 0 0 0 4 6.5v8A1.5 1.5 0 0 0 5.5 16h8a1.5 1.5 0 0 0 1.5-1.5V12M11.5 4H16v4.5M16 4l-6.5 6.5',
  clip: 'm15.8 9.6-5.6 5.6a3.6 3.6 0 0 1-5.1-5.1l6-6a2.4 2.4 0 0 1 3.4 3.4l-5.8 5.8a1.2 1.2 0 0 1-1.7-1.7l5.3-5.3',
  file: 'M6 3.8h5l3.5 3.5v8.2a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4.8a1 1 0 0 1 1-1ZM11 3.8v3.5h3.5',
  pen: 'm4.5 15.5.6-3.1 7.6-7.6a1.4 1.4 0 0 1 2 0l.5.5a1.4 1.4 0 0 1 0 2l-7.6 7.6-3.1.6Z',
  close: 'm6 6 8 8M14 6l-8 8',
  down: 'M10 4.5V15M5 10.2l5 5 5-5',
  like: 'M7 9.2 9.6 4c1 0 1.8.8 1.8 1.8v2.4h3.3c.9 0 1.6.8 1.4 1.7l-.9 4.6c-.1.7-.7 1.2-1.4 1.2H7M7 9.2v6.5M7 9.2H4.5v6.5H7',
  dislike:
    'M13 10.8 10.4 16c-1 0-1.8-.8-1.8-1.8v-2.4H5.3c-.9 0-1.6-.8-1.4-1.7l.9-4.6c.1-.7.7-1.2 1.4-1.2H13M13 10.8V4.3M13 10.8h2.5V4.3H13',
  spark: 'M10 3.8c.5 3.6 2.6 5.7 6.2 6.2-3.6.5-5.7 2.6-6.2 6.2-.5-3.6-2.6-5.7-6.2-6.2 3.6-.5 5.7-2.6 6.2-6.2Z',
  tool: 'm5 6 3.5 3.5L5 13M10.5 14H15',
  left: 'm12.5 5-5 5 5 5',
  share: 'M10 12.5v-9M6.8 6.6 10 3.4l3.2 3.2M6 9.2H5v6.3h10V9.2h-1',
  save: 'M10 4v8.6M6.6 9.4l3.4 3.4 3.4-3.4M4.5 15.8h11',
  quote: 'M8.6 6.2C6.4 7 5 8.8 5 11.2v2.6h3.6v-3.6H6.4M15.4 6.2c-2.2.8-3.6 2.6-3.6 5v2.6h3.6v-3.6h-2.2',
  pin: 'M7.2 3.8h5.6M8 3.8v4.6l-2.4 3.2h8.8L12 8.4V3.8M10 11.6v4.8',
  unpin: 'M7.2 3.8h5.6M8 3.8v.4M12 3.8v4.6l1.2 1.6M8 8.4l-2.4 3.2h6M10 11.6v4.8M4 4l12 12',
  folder:
    'M3.5 6.2c0-.8.6-1.4 1.4-1.4h3l1.6 1.9h5.6c.8 0 1.4.6 1.4 1.4v5.7c0 .8-.6 1.4-1.4 1.4H4.9c-.8 0-1.4-.6-1.4-1.4Z',
  stop: 'M7.1 6.3h5.8a.8.8 0 0 1 .8.8v5.8a.8.8 0 0 1-.8.8H7.1a.8.8 0 0 1-.8-.8V7.1a.8.8 0 0 1 .8-.8Z',
  copy: 'M9 7h5a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2h-5a2 2 0 0 1-2-2v-5a2 2 0 0 1 2-2ZM13 4.8A2 2 0 0 0 11.2 4H6a2 2 0 0 0-2 2v5.2A2 2 0 0 0 4.8 13',
  search: 'M4.2 9a4.8 4.8 0 1 0 9.6 0 4.8 4.8 0 1 0-9.6 0M12.6 12.6l3.4 3.4',
  research: 'M3.8 10a6.2 6.2 0 1 0 12.4 0 6.2 6.2 0 1 0-12.4 0M12.8 7.2l-1.6 4-4 1.6 1.6-4 4-1.6Z',
  sidebar: 'M5.5 4.5h9a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM8 4.5v11',
  more: 'M4.8 10h.01M10 10h.01M15.2 10h.01',
  sliders:
    'M4 6.5h6.5M14 6.5h2M4 13.5h2M9.5 13.5H16M10.4 6.5a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0M6 13.5a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0',
} as const

export type IconName = keyof typeof drawings

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill={name === 'stop' ? 'currentColor' : 'none'}
      stroke="currentColor"
      stroke-width={name === 'more' ? 2.6 : 1.6}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={drawings[name]} />
    </svg>
  )
}

export const Mark = () => (
  <svg class="mark" viewBox="0 0 28 28" width="28" height="28" aria-hidden="true">
    <rect class="mark-ground" x="1" y="1" width="26" height="26" rx="7" />
    <path class="mark-inlay" d="M14 6.5 21.5 14 14 21.5 6.5 14Z" />
    <path class="mark-seam" d="M14 10.2 17.8 14 14 17.8 10.2 14Z" />
  </svg>
)
