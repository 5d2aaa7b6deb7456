import { render } from 'preact'
import { Gate } from './service/gate.tsx'
import { loadTexts } from './texts/texts.ts'

const place = document.getElementById('app')
if (place !== null) void loadTexts().then(() => render(<Gate />, place))
