import { accentRule } from '@inlay/client/conversation'

/**
 * Styles of the element. A page customizes them with the variables that begin with `--inlay-`. The colours of column
 * rules and of decorations paint nothing: the element reads the luminance of background and text from them. A page may
 * style all its elements, this one included: what is inherited ends at the panel and the launcher, but for the direction
 * that the page declares.
 */
export const styles: string = `
:host {
  all: initial;
  color-scheme: light dark;
  --fill: var(--inlay-accent, light-dark(#0d6660, #74cbc2));
  --ground: var(--inlay-background, light-dark(#fff, #1d2024));
  --text: var(--inlay-text, light-dark(#1d2226, #e8e6e1));
  --raised: var(--inlay-raised, color-mix(in oklab, var(--ground), var(--text) 6%));
  --muted: var(--inlay-muted, color-mix(in oklab, var(--ground), var(--text) 70%));
  --line: var(--inlay-border, color-mix(in oklab, var(--ground), var(--text) 15%));
  --on-fill: var(--inlay-on-accent, light-dark(#fff, #000));
  --accent: var(--fill);
  --danger: var(--inlay-danger, light-dark(#a8321f, #f29a88));
  --radius: var(--inlay-radius, 14px);
  --corner: calc(var(--radius) / 14);
  position: fixed;
  right: var(--inlay-right, 20px);
  bottom: var(--inlay-bottom, 20px);
  z-index: var(--inlay-z-index, 2147483000);
  display: flex;
  flex-direction: column;
  align-items: flex-end;
  gap: 12px;
  column-rule-color: var(--ground);
  text-decoration-color: var(--text);
}
:where(.panel, .launcher) {
  all: initial;
  color-scheme: inherit;
  visibility: inherit;
  direction: ltr;
  font: 400 15px/1.5 var(--inlay-font, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif);
  color: var(--text);
}
:host(:dir(rtl)) :where(.panel, .launcher) { direction: rtl }
${accentRule(':host')}
:host([theme='light']) { color-scheme: light }
:host([theme='dark']) { color-scheme: dark }
:host([inline]) { position: static; display: block; height: var(--inlay-height, 560px) }
:host([hidden]) { display: none }
*, *::before, *::after { box-sizing: border-box }
h2, h3, h4, p, ul, ol, pre, blockquote, table { margin: 0 }
:where(.panel) :is(button, select, textarea) { font: inherit; color: inherit }
button { cursor: pointer }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; display: block }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.launcher { width: 56px; height: 56px; border: 0; border-radius: 50%; display: grid; place-items: center; background: var(--fill); color: var(--on-fill); box-shadow: 0 4px 16px rgb(0 0 0 / 25%) }
.launcher svg { width: 26px; height: 26px }
.panel { position: relative; display: flex; flex-direction: column; overflow: hidden; width: min(var(--inlay-width, 400px), calc(100vw - 40px)); height: min(var(--inlay-height, 600px), calc(100dvh - 108px)); background: var(--ground); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 8px 32px rgb(0 0 0 / 20%); animation: rise 0.18s ease-out }
:host([inline]) .panel { width: 100%; height: 100%; box-shadow: none; animation: none }
@keyframes rise { from { opacity: 0; transform: translateY(8px) } }
header { display: flex; align-items: center; gap: 6px; padding: 10px 12px; border-bottom: 1px solid var(--line) }
h2 { flex: 1; min-width: 0; font-size: 16px; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
header button { border: 0; background: none; padding: 6px; border-radius: calc(8 * var(--corner)); color: var(--muted) }
header button:hover { background: var(--raised) }
header select { max-width: 130px; border: 1px solid var(--line); border-radius: calc(8 * var(--corner)); background: var(--ground); padding: 4px 20px 4px 6px; text-overflow: ellipsis; font-size: 13px }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 14px; display: flex; flex-direction: column; gap: 18px }
.welcome, .step, .note { color: var(--muted) }
.starter { align-self: flex-start; padding: 6px 12px; border: 1px solid var(--line); border-radius: calc(10 * var(--corner)); background: none; text-align: start }
.step { animation: pulse 1.6s ease-in-out infinite }
@keyframes pulse { 50% { opacity: 0.6 } }
.turn { display: flex; flex-direction: column; gap: 10px; overflow-wrap: anywhere }
.question { align-self: flex-end; max-width: 85%; padding: 8px 12px; background: var(--raised); border-radius: var(--radius); white-space: pre-wrap }
.waiting { opacity: .7; margin: 0 }
.markdown { display: flex; flex-direction: column; gap: 10px }
.markdown h3, .markdown h4 { font-size: 1em; font-weight: 650; line-height: 1.3 }
.markdown ul, .markdown ol { padding-inline-start: 1.4em }
.markdown blockquote { padding-inline-start: 10px; border-inline-start: 3px solid var(--line) }
.markdown hr { width: 100%; border: 0; border-top: 1px solid var(--line) }
a { color: var(--accent) }
code { font: 0.9em ui-monospace, 'SF Mono', Menlo, Consolas, monospace; background: var(--raised); border-radius: 4px; padding: 0 3px }
pre { overflow-x: auto; padding: 10px; background: var(--raised); border-radius: calc(8 * var(--corner)) }
pre code { background: none; padding: 0 }
.table { --shade: color-mix(in oklab, transparent, var(--text) 22%); overflow-x: auto; background: linear-gradient(to right, var(--ground) 50%, transparent) local left/32px, linear-gradient(to left, var(--ground) 50%, transparent) local right/32px, linear-gradient(to right, var(--shade), transparent) left/14px, linear-gradient(to left, var(--shade), transparent) right/14px; background-repeat: no-repeat }
table { border-collapse: collapse }
th, td { min-width: 5em; overflow-wrap: break-word; padding: 4px 8px; border: 1px solid var(--line); text-align: start; vertical-align: top }
.citation { min-width: 1.6em; margin: 0 2px; padding: 0 4px; border: 0; border-radius: calc(6 * var(--corner)); background: var(--raised); color: var(--accent); font-size: 0.8em; font-weight: 600; line-height: 1.6; vertical-align: 1px }
.sources ol { list-style: none; padding: 0; display: flex; flex-direction: column; gap: 4px }
.sources button { width: 100%; text-align: start; border: 1px solid var(--line); border-radius: calc(8 * var(--corner)); background: none; padding: 5px 9px; font-size: 13px }
.sources button span { color: var(--accent); font-weight: 600; margin-inline-end: 4px }
.excerpt { padding: 8px 9px; font-size: 13px; color: var(--muted); display: flex; flex-direction: column; gap: 6px; white-space: pre-line }
.failure { display: flex; flex-direction: column; align-items: flex-start; gap: 8px; color: var(--danger) }
.failure button { border: 1px solid currentColor; border-radius: calc(8 * var(--corner)); background: none; padding: 4px 10px }
form { display: flex; align-items: flex-end; gap: 8px; padding: 10px 12px; border-top: 1px solid var(--line) }
textarea { flex: 1; min-width: 0; resize: none; border: 1px solid var(--line); border-radius: calc(10 * var(--corner)); background: var(--ground); padding: 8px 10px }
textarea::placeholder { color: var(--muted); opacity: 1 }
.send { flex: none; width: 38px; height: 38px; border: 0; border-radius: 50%; display: grid; place-items: center; background: var(--fill); color: var(--on-fill) }
.send:disabled { opacity: 0.45; cursor: default }
@media (max-width: 480px) {
  :host(:not([inline])[open]) { inset: 0; gap: 0 }
  :host(:not([inline])[open]) .panel { width: 100vw; height: 100dvh; border: 0; border-radius: 0 }
  :host(:not([inline])[open]) .launcher { display: none }
}
@media (prefers-reduced-motion: reduce) { *, *::before { animation: none !important; transition: none !important } }
`
